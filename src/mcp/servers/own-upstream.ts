import type { Transport } from "@modelcontextprotocol/client";
import { CountersignError, type JsonObject } from "../../protocol/index.ts";
import { describeServer, type McpServer, overHttp, overSse, stdio } from "./connection.ts";
import { isLostSession } from "./outcome.ts";
import { type RequestOptions, Upstream, UpstreamError } from "./upstream.ts";

const NOTHING = {} as const;
// Some servers list a tool only for clients with certain capabilities.
const ANYTHING = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } } as const;

/**
 * The gateway's own connection to the server, for calls that run while no client is connected. Opened when needed, and
 * again after it was lost.
 */
export class OwnUpstream {
  readonly #server: McpServer;
  #upstream: Promise<Upstream> | undefined;
  /** Found out by trying, once, where nothing is said. */
  #isOld = false;
  #tried = false;

  constructor(server: McpServer) {
    this.#server = server;
    this.#isOld = "url" in server && server.transport === "sse";
  }

  /** Throws `invalid-option` where the server cannot be reached. */
  async listTools(): Promise<readonly JsonObject[]> {
    try {
      return await (await this.#connected()).listTools();
    } catch (error) {
      if (!isLostSession(error)) throw error;
      await this.rest();
      return (await this.#connected()).listTools();
    }
  }

  /** Every tool that the server lists for any client, on a connection of its own that ends with this. */
  async listAll(): Promise<readonly JsonObject[]> {
    const upstream = await this.#reached(() => this.#connect(ANYTHING));
    try {
      return await upstream.listTools();
    } catch (error) {
      // It may have none, and much else.
      if (error instanceof UpstreamError) return [];
      throw error;
    } finally {
      await upstream.close();
    }
  }

  async runTool(tool: string, args: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const upstream = await this.#connected();
    return upstream.request("tools/call", { name: tool, arguments: args }, options);
  }

  /** A connection for a client of its own, of the kind that the server understands. */
  async another(): Promise<Transport> {
    if (!this.#tried && "url" in this.#server) await this.listAll();
    return this.#open();
  }

  /** Ends the connection until it is needed again. */
  async rest(): Promise<void> {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    // One that could not be made needs no closing.
    await upstream?.then((open) => open.close()).catch(() => {});
  }

  #connected(): Promise<Upstream> {
    const connecting = async (): Promise<Upstream> => {
      const upstream = await this.#connect(NOTHING);
      upstream.onClose = () => {
        this.#upstream = undefined;
      };
      return upstream;
    };
    this.#upstream ??= this.#reached(connecting).catch((error: unknown) => {
      this.#upstream = undefined;
      throw error;
    });
    return this.#upstream;
  }

  async #reached(connect: () => Promise<Upstream>): Promise<Upstream> {
    try {
      return await connect();
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new CountersignError(
        "invalid-option",
        `The MCP server ${describeServer(this.#server)} cannot be reached: ${why}`,
        { cause },
      );
    }
  }

  async #connect(capabilities: JsonObject): Promise<Upstream> {
    try {
      return await this.#introduced(capabilities);
    } catch (error) {
      if (this.#isOld || "command" in this.#server || this.#server.transport === "http") throw error;
      // A server older than streamable HTTP refuses the first request; any other error appears again with SSE.
      this.#isOld = true;
      return this.#introduced(capabilities).catch(() => {
        this.#isOld = false;
        throw error;
      });
    }
  }

  async #introduced(capabilities: JsonObject): Promise<Upstream> {
    const upstream = new Upstream(this.#open());
    try {
      await upstream.start();
      await upstream.introduce(capabilities);
      this.#tried = true;
      return upstream;
    } catch (error) {
      await upstream.close().catch(() => {});
      throw error;
    }
  }

  #open(): Transport {
    const server = this.#server;
    if ("command" in server) return stdio(server, "inherit");
    return this.#isOld ? overSse(server) : overHttp(server);
  }
}
