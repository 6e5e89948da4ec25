import { randomUUID } from "node:crypto";
import { type JSONRPCMessage, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/client";
import type { McpGateway } from "../gateway/index.ts";
import {
  type ClientMessage,
  errorMessage,
  MOST_BYTES,
  type Refusal,
  RPC_CODES,
  readClientMessage,
  toWire,
} from "../rpc/index.ts";
import { HttpClient } from "./http-client.ts";

const SESSION = "mcp-session-id";
const VERSION = "mcp-protocol-version";
const MOST_SESSIONS = 100;
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * A gateway for clients over streamable HTTP, at `/mcp`: each has its own session and its own connection to the server.
 * There is no login, so it accepts only loopback host names, and no pages of other sites.
 */
export class McpEndpoint {
  readonly #gateway: McpGateway;
  readonly #clients = new Map<string, HttpClient>();
  readonly #sweep: NodeJS.Timeout;

  constructor(gateway: McpGateway) {
    this.#gateway = gateway;
    this.#sweep = setInterval(() => this.#endIdle(), SWEEP_MS).unref();
  }

  /** Answers one request; never rejects because of a client's mistake. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return refusal;
    switch (request.method) {
      case "POST":
        return this.#post(request);
      case "GET":
        return this.#get(request);
      case "DELETE":
        return this.#delete(request);
      default:
        return refuse(405, "only POST, GET and DELETE are supported");
    }
  };

  /** Disconnects every client. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }

  async #post(request: Request): Promise<Response> {
    if (!isJson(request)) return refuse(415, "the content-type must be application/json");
    if (!accepts(request, "application/json") || !accepts(request, "text/event-stream"))
      return refuse(406, "the accept header must contain application/json and text/event-stream");
    const message = await readMessage(request);
    if (message === undefined) return refuse(400, "the message is incomplete or too large");
    if (message.kind === "refused") return this.#refused(request, message);
    if (message.kind === "request" && message.method === "initialize")
      return this.#begin(request, toWire(message));
    return this.#within(request, (client) => {
      if (message.kind === "request" && client.isAnswering(message.id))
        return refuse(400, "a request with this id is already in progress");
      return answer(client, toWire(message));
    });
  }

  /** What a client of a session asks for by an id is answered like any other request. */
  async #refused(request: Request, { id, code, message }: Refusal): Promise<Response> {
    if (id === null || id === undefined || !request.headers.has(SESSION)) return refuse(400, message, code);
    return this.#within(request, () => Response.json(errorMessage(id, code, message)));
  }

  #get(request: Request): Promise<Response> {
    return this.#within(request, (client) => {
      if (!accepts(request, "text/event-stream"))
        return refuse(406, "the accept header must contain text/event-stream");
      return new Response(client.listen(), { headers: streamHeaders(client) });
    });
  }

  #delete(request: Request): Promise<Response> {
    return this.#within(request, async (client) => {
      await client.close();
      return new Response(null, { status: 204 });
    });
  }

  async #begin(request: Request, message: JSONRPCMessage): Promise<Response> {
    if (request.headers.has(SESSION)) return refuse(400, "initialize must not send a session id");
    if (this.#clients.size >= MOST_SESSIONS) return refuse(503, "too many sessions");
    const client = new HttpClient(randomUUID());
    this.#clients.set(client.sessionId, client);
    const served = this.#gateway.serve(client).finally(() => this.#clients.delete(client.sessionId));
    try {
      await Promise.race([client.started, served]);
    } catch (error) {
      return refuse(502, error instanceof Error ? error.message : String(error));
    }
    // Its waiting requests already have an answer.
    served.catch(() => {});
    return answer(client, message);
  }

  async #within(
    request: Request,
    act: (client: HttpClient) => Response | Promise<Response>,
  ): Promise<Response> {
    const id = request.headers.get(SESSION);
    if (id === null) return refuse(400, "the session id is missing; start a session with initialize");
    const version = request.headers.get(VERSION);
    if (version !== null && !SUPPORTED_PROTOCOL_VERSIONS.includes(version))
      return refuse(400, `the protocol version ${version} is not supported`);
    const client = this.#clients.get(id);
    return client === undefined ? refuse(404, "the session has ended; start a new one") : act(client);
  }

  #endIdle(): void {
    const now = performance.now();
    for (const client of this.#clients.values()) {
      if (!client.isBusy && now - client.lastSeen > IDLE_MS) client.close().catch(() => {});
    }
  }
}

function answer(client: HttpClient, message: JSONRPCMessage): Response {
  const stream = client.receive(message);
  if (stream === undefined) return new Response(null, { status: 202 });
  return new Response(stream, { headers: streamHeaders(client) });
}

function streamHeaders({ sessionId }: HttpClient): Record<string, string> {
  return { "content-type": "text/event-stream", "cache-control": "no-store", [SESSION]: sessionId };
}

/** Refuses DNS rebinding and pages of other sites. */
function refusalOf(request: Request): Response | undefined {
  const host = request.headers.get("host") ?? new URL(request.url).host;
  if (!LOOPBACK.test(host)) return refuse(403, "this server accepts only loopback host names");
  const origin = request.headers.get("origin");
  const from = origin === null ? host : URL.parse(origin)?.host;
  if (from !== host) return refuse(403, "pages from other origins may not call this server");
  return new URL(request.url).pathname === "/mcp" ? undefined : refuse(404, "the endpoint is /mcp");
}

function isJson({ headers }: Request): boolean {
  return /^application\/json\s*(?:;|$)/i.test(headers.get("content-type") ?? "");
}

function accepts({ headers }: Request, type: string): boolean {
  const accepted = headers.get("accept") ?? "*/*";
  const [group] = type.split("/");
  return accepted.includes(type) || accepted.includes("*/*") || accepted.includes(`${group}/*`);
}

async function readMessage(request: Request): Promise<ClientMessage | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += piece.length;
      if (bytes > MOST_BYTES) return undefined;
      pieces.push(piece);
    }
  } catch {
    return undefined;
  }
  return readClientMessage(Buffer.concat(pieces));
}

function refuse(status: number, message: string, code: number = RPC_CODES.invalidRequest): Response {
  return Response.json(errorMessage(null, code, message), { status });
}
