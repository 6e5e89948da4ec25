/* oxlint-disable unicorn/prefer-add-event-listener -- a transport is no event target */
import { randomUUID } from "node:crypto";
import {
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  type StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { isJsonArray, isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import { errorMessage, fieldsOf, isRequestId, RPC_CODES, textOf } from "../rpc/index.ts";
import { CLIENT } from "./connection.ts";

/** The server answered with an error, so the call did not run. */
export class UpstreamError extends Error {}

/** The connection broke, or too much time passed, after the request was sent. */
class UpstreamLost extends Error {}

export interface RequestOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

const MOST_TOOLS = 10_000;
const MOST_PAGES = 100;
const LISTING_MS = 60_000;

/** A connection to a server that carries a client's messages and our own requests. */
export class Upstream {
  /** What the server sends that is no answer to us. */
  onMessage: (message: JSONRPCMessage) => void = (message) => this.#decline(message);
  onClose: () => void = () => {};
  readonly #transport: Transport;
  readonly #asked = new Map<string, PromiseWithResolvers<JsonObject>>();
  // Random ids: nobody else on this connection can guess them.
  readonly #ids = `countersign-${randomUUID()}-`;
  #requests = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async start(): Promise<void> {
    this.#transport.onmessage = (message) => this.#receive(message);
    this.#transport.onclose = () => {
      this.#giveUpAll();
      this.onClose();
    };
    await this.#transport.start();
  }

  /** Does the handshake; for a connection without another client. Declines all requests of the server. */
  async introduce(capabilities: JsonObject): Promise<void> {
    const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities, clientInfo: { ...CLIENT } };
    this.adopt(await this.request("initialize", params, { timeoutMs: LISTING_MS }));
    await this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  }

  /** Goes on in the protocol version that the server's answer to `initialize` says. */
  adopt(initialized: JsonObject): void {
    const version = textOf(initialized, "protocolVersion");
    if (version !== undefined) this.#transport.setProtocolVersion?.(version);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#transport.send(message);
  }

  /**
   * Sends our own request. Throws {@link UpstreamError} if the server refuses, {@link UpstreamLost} if there is no
   * answer.
   */
  async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const { signal, timeoutMs } = options;
    const id = `${this.#ids}${++this.#requests}`;
    const answer = Promise.withResolvers<JsonObject>();
    this.#asked.set(id, answer);
    const giveUp = (): void => answer.reject(new UpstreamLost("it was cancelled"));
    const late = (): void => answer.reject(new UpstreamLost(`it did not answer within ${timeoutMs} ms`));
    const timer = timeoutMs === undefined ? undefined : setTimeout(late, timeoutMs);
    signal?.addEventListener("abort", giveUp, { once: true });
    // A caller that waits below may still wait for the sending.
    answer.promise.catch(() => {});
    try {
      await this.send({ jsonrpc: "2.0", id, method, params });
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      this.#asked.delete(id);
    }
  }

  /** Every tool that the server lists, as it says it; none where it has none to list. */
  async listTools(): Promise<readonly JsonObject[]> {
    const tools: JsonObject[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES && tools.length <= MOST_TOOLS; pages++) {
      const params = cursor === undefined ? {} : { cursor };
      const page = await this.request("tools/list", params, { timeoutMs: LISTING_MS });
      const listed = member(page, "tools");
      if (isJsonArray(listed)) tools.push(...listed.filter((tool) => isJsonObject(tool)));
      cursor = textOf(page, "nextCursor");
      if (cursor === undefined) break;
    }
    return tools;
  }

  async close(): Promise<void> {
    this.#giveUpAll();
    const { terminateSession } = this.#transport as Partial<StreamableHTTPClientTransport>;
    // A server that cannot be told forgets the session by itself.
    await terminateSession?.call(this.#transport as StreamableHTTPClientTransport).catch(() => {});
    await this.#transport.close();
  }

  #receive(message: JSONRPCMessage): void {
    const { method, id, result, error } = fieldsOf(message);
    const asked = typeof id === "string" && method === undefined ? this.#asked.get(id) : undefined;
    if (asked === undefined) this.onMessage(message);
    else if (error === undefined) asked.resolve(result);
    else asked.reject(new UpstreamError(textOf(error, "message") ?? "the server refused it"));
  }

  /** Where there is no client but us, nothing is offered: not to sample, not to ask the user, no roots. */
  #decline(message: JSONRPCMessage): void {
    const { method, id } = fieldsOf(message);
    if (method === undefined || !isRequestId(id)) return;
    const answer: JSONRPCMessage =
      method === "ping"
        ? { jsonrpc: "2.0", id, result: {} }
        : errorMessage(id, RPC_CODES.unknownMethod, `${method} is not supported`);
    this.send(answer).catch(() => this.#giveUpAll());
  }

  #giveUpAll(): void {
    for (const { reject } of this.#asked.values()) reject(new UpstreamLost("the connection was closed"));
    this.#asked.clear();
  }
}
