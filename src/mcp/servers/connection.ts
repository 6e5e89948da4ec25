import {
  type AuthProvider,
  type CallToolResult,
  Client,
  type OAuthClientProvider,
  type ProgressCallback,
  type Tool as ServerTool,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CountersignError, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { isLostSession } from "./outcome.ts";
import { passingFetch, withHeaders } from "./passed-headers.ts";

/** How a server is reached: started as a process, or over HTTP. */
export type McpServer =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      /** Besides the default variables of a child process. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly url: string;
      /** `sse` is for servers older than streamable HTTP. Default: tries both. */
      readonly transport?: "http" | "sse";
      readonly headers?: Readonly<Record<string, string>>;
      /** A bearer token, or the SDK's OAuth flow. */
      readonly authProvider?: AuthProvider | OAuthClientProvider;
    };

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly onProgress: (update: JsonValue) => void;
  /** Beside the server's own; only over HTTP. */
  readonly headers: readonly (readonly [string, string])[];
}

// A message larger than this ends the connection, to protect our memory.
const LARGEST_MESSAGE = 16 * 1024 * 1024;
/** How we introduce ourselves. */
export const CLIENT = { name: "countersign", version: "1" } as const;

/**
 * A client of one server. Connects when it is first needed, and again after the connection was lost. Offers the server
 * no sampling, no elicitation and no roots.
 */
export class McpConnection {
  readonly #server: McpServer;
  readonly #onToolsChanged: () => void;
  #client: Promise<Client> | undefined;
  #closed = false;

  constructor(server: McpServer, onToolsChanged: () => void) {
    this.#server = server;
    this.#onToolsChanged = onToolsChanged;
  }

  /** Every tool the server lists. Throws if it cannot be reached. */
  async listTools(timeoutMs: number): Promise<readonly ServerTool[]> {
    const { tools } = await this.#use((client) =>
      client.listTools(undefined, { timeout: timeoutMs, cacheMode: "bypass" }),
    );
    return tools;
  }

  /** Resolves once there is a connection: from here on a failure may be one of a request that was sent. */
  async ready(): Promise<void> {
    await this.#connected();
  }

  async callTool(name: string, args: JsonObject, options: CallOptions): Promise<CallToolResult> {
    const { signal, timeoutMs: timeout, onProgress, headers } = options;
    const onprogress: ProgressCallback = ({ progress, total, message }) =>
      onProgress({
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      });
    // Only around the call, because the connection is shared.
    return this.#use((client) =>
      withHeaders(headers, () =>
        client.callTool(
          { name, arguments: { ...args } },
          { signal, timeout, resetTimeoutOnProgress: true, onprogress },
        ),
      ),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = undefined;
    // A connection that could not be made needs no closing.
    await client?.then((open) => open.close()).catch(() => {});
  }

  /** A restarted server does not know our session, so it has done nothing, and the call is sent again. */
  async #use<T>(ask: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#connected();
    try {
      return await ask(client);
    } catch (error) {
      if (!isLostSession(error)) throw error;
      await client.close();
      return ask(await this.#connected());
    }
  }

  #connected(): Promise<Client> {
    if (this.#closed) throw new CountersignError("closed", "The MCP toolset was closed.");
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const server = this.#server;
    // Asking a process for its newest protocol would mean starting it twice; all of them speak the older one.
    if ("command" in server) return this.#attach(stdio(server), "legacy");
    if (server.transport === "sse") return this.#attach(overSse(server));
    try {
      return await this.#attach(overHttp(server));
    } catch (error) {
      if (server.transport === "http") throw error;
      // A server older than streamable HTTP refuses the first request; any other error appears again with SSE.
      return this.#attach(overSse(server)).catch(() => {
        throw error;
      });
    }
  }

  async #attach(transport: Transport, mode: "auto" | "legacy" = "auto"): Promise<Client> {
    const client = new Client(CLIENT, {
      capabilities: {},
      versionNegotiation: { mode },
      inputRequired: { autoFulfill: false },
      // Results are not validated: compiling a stranger's schema would be another attack surface.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => this.#onToolsChanged() } },
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's own way of telling
    client.onclose = () => {
      this.#client = undefined;
      this.#onToolsChanged();
    };
    await client.connect(transport);
    return client;
  }
}

/** The server's standard error is shown only if somebody started it by hand. */
export function stdio(
  { command, args, env, cwd }: Extract<McpServer, { command: string }>,
  stderr: "ignore" | "inherit" = "ignore",
): Transport {
  return new StdioClientTransport({
    // The Node that runs us, and not whichever is first on the path.
    command: command === "node" ? process.execPath : command,
    args: [...(args ?? [])],
    ...(env === undefined ? {} : { env: { ...getDefaultEnvironment(), ...env } }),
    ...(cwd === undefined ? {} : { cwd }),
    stderr,
    maxBufferSize: LARGEST_MESSAGE,
  });
}

type OverNetwork = Extract<McpServer, { url: string }>;

export function overHttp(server: OverNetwork): Transport {
  return new StreamableHTTPClientTransport(new URL(server.url), transportOptions(server));
}

export function overSse(server: OverNetwork): Transport {
  const transport = new SSEClientTransport(new URL(server.url), transportOptions(server));
  // It would reconnect by itself, to a server that has lost our session and requests.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's own way of telling
  transport.onerror = (error) => {
    if (error instanceof SseError) transport.close().catch(() => {});
  };
  return transport;
}

function transportOptions({ headers, authProvider }: OverNetwork): {
  readonly fetch: typeof fetch;
  readonly requestInit?: RequestInit;
  readonly authProvider?: AuthProvider | OAuthClientProvider;
} {
  return {
    fetch: passingFetch(boundedFetch(LARGEST_MESSAGE)),
    ...(headers === undefined ? {} : { requestInit: { headers: { ...headers } } }),
    ...(authProvider === undefined ? {} : { authProvider }),
  };
}

/** The server's location for people: never its environment or headers, which may contain secrets. */
export function describeServer(server: McpServer): string {
  if ("url" in server) return withoutCredentials(server.url);
  return [server.command, ...(server.args ?? [])].join(" ");
}

function withoutCredentials(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname}`;
}
