/* oxlint-disable unicorn/prefer-add-event-listener -- a transport is no event target */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../protocol/index.ts";
import type { GatedRequest } from "./gateway.ts";

/** What a session asks of the gateway that it belongs to. */
interface Gateway {
  isGated(tool: string): boolean;
  define(tools: readonly JsonValue[]): void;
  call(request: GatedRequest, onOutcome: (result: JsonObject) => Promise<void>): Promise<void>;
}

/** The server answered with an error: it did not do it. */
export class UpstreamError extends Error {}

/** The connection broke after the request was sent. */
export class UpstreamLost extends Error {}

type Id = string | number;

const OURS = "countersign-";

/** One client and the server behind it: a pipe in which calls of gated tools are taken out. */
export class GatewaySession {
  readonly #client: Transport;
  readonly #upstream: Transport;
  readonly #gateway: Gateway;
  readonly #asked = new Map<string, PromiseWithResolvers<JsonObject>>();
  readonly #held = new Map<Id, AbortController>();
  readonly #ended = Promise.withResolvers<void>();
  #initializing: Id | undefined;
  #ready = false;
  /** What a tool is must be known before anybody is asked about it. */
  #learned: Promise<void> = Promise.resolve();
  #requests = 0;

  constructor(client: Transport, upstream: Transport, gateway: Gateway) {
    this.#client = client;
    this.#upstream = upstream;
    this.#gateway = gateway;
  }

  /** Has the client finished its handshake, so that the server takes requests? */
  get isReady(): boolean {
    return this.#ready;
  }

  /** Resolves when either side is gone. */
  async run(): Promise<void> {
    const end = (): void => this.#ended.resolve();
    this.#client.onmessage = (message) => this.#take(() => this.#fromClient(message));
    this.#upstream.onmessage = (message) => this.#take(() => this.#fromServer(message));
    this.#client.onclose = end;
    this.#upstream.onclose = end;
    try {
      await this.#upstream.start();
      await this.#client.start();
      await this.#ended.promise;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    this.#ready = false;
    this.#ended.resolve();
    for (const held of this.#held.values()) held.abort();
    for (const asked of this.#asked.values()) asked.reject(new UpstreamLost("the connection was closed"));
    this.#asked.clear();
    await Promise.allSettled([this.#client.close(), this.#upstream.close()]);
  }

  /** Asks the server something of our own. */
  async request(method: string, params: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const id = `${OURS}${++this.#requests}`;
    const answer = Promise.withResolvers<JsonObject>();
    this.#asked.set(id, answer);
    const giveUp = (): void => answer.reject(new UpstreamLost("it was given up"));
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      await this.#upstream.send({ jsonrpc: "2.0", id, method, params });
      return await answer.promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
      this.#asked.delete(id);
    }
  }

  // A message that cannot be passed on ends the session: going on would lose it without a word.
  #take(handle: () => Promise<void>): void {
    handle().catch(() => this.#ended.resolve());
  }

  async #fromClient(message: JSONRPCMessage): Promise<void> {
    const { method, id, params } = fieldsOf(message);
    if (method === "initialize") this.#initializing = id;
    if (method === "notifications/cancelled" && this.#giveUp(params)) return;
    const tool = method === "tools/call" ? textOf(params, "name") : undefined;
    if (tool !== undefined && id !== undefined && this.#gateway.isGated(tool)) {
      return this.#hold(id, tool, params);
    }
    await this.#upstream.send(message);
    if (method === "notifications/initialized") await this.#relearn();
  }

  async #fromServer(message: JSONRPCMessage): Promise<void> {
    const { method, id, result, error } = fieldsOf(message);
    const asked = typeof id === "string" && method === undefined ? this.#asked.get(id) : undefined;
    if (asked !== undefined) {
      if (error === undefined) asked.resolve(result);
      else asked.reject(new UpstreamError(textOf(error, "message") ?? "the server refused it"));
      return;
    }
    if (id !== undefined && id === this.#initializing) this.#adoptVersion(result);
    if (method === "notifications/tools/list_changed") await this.#relearn();
    await this.#client.send(message);
  }

  #adoptVersion(result: JsonObject): void {
    this.#initializing = undefined;
    const version = textOf(result, "protocolVersion");
    if (version !== undefined) this.#upstream.setProtocolVersion?.(version);
  }

  #relearn(): Promise<void> {
    this.#learned = this.#learn();
    return this.#learned;
  }

  async #learn(): Promise<void> {
    const tools: JsonValue[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await this.request("tools/list", cursor === undefined ? {} : { cursor });
      const listed = member(page, "tools");
      if (isJsonArray(listed)) tools.push(...listed);
      cursor = textOf(page, "nextCursor");
      if (cursor === undefined || tools.length > MOST_TOOLS) break;
    }
    this.#gateway.define(tools);
    this.#ready = true;
  }

  async #hold(id: Id, tool: string, params: JsonObject): Promise<void> {
    const held = new AbortController();
    this.#held.set(id, held);
    const args = member(params, "arguments");
    const request: GatedRequest = {
      tool,
      args: isJsonObject(args) ? args : {},
      signal: held.signal,
      onWaiting: this.#teller(id, params),
    };
    // Not awaited: others of this client's messages go on meanwhile.
    this.#learned
      .then(() =>
        this.#gateway.call(request, async (result) => this.#client.send({ jsonrpc: "2.0", id, result })),
      )
      .catch((error: unknown) => this.#refuse(id, error))
      .finally(() => this.#held.delete(id));
  }

  async #refuse(id: Id, error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error);
    await this.#client
      .send({ jsonrpc: "2.0", id, error: { code: -32603, message } })
      .catch(() => this.#ended.resolve());
  }

  /** Tells of the waiting, if the client asked to be told of progress. */
  #teller(id: Id, params: JsonObject): (message: string) => void {
    const meta = member(params, "_meta");
    const progressToken = isJsonObject(meta) ? member(meta, "progressToken") : undefined;
    if (progressToken === undefined) return () => {};
    let progress = 0;
    return (message) => {
      progress += 1;
      const notification = { method: "notifications/progress", params: { progressToken, progress, message } };
      this.#client
        .send({ jsonrpc: "2.0", ...notification }, { relatedRequestId: id })
        .catch(() => this.#ended.resolve());
    };
  }

  #giveUp(params: JsonObject): boolean {
    const id = member(params, "requestId");
    const held = typeof id === "string" || typeof id === "number" ? this.#held.get(id) : undefined;
    held?.abort();
    return held !== undefined;
  }
}

const MOST_TOOLS = 10_000;

interface Fields {
  readonly method?: string;
  readonly id?: Id;
  readonly params: JsonObject;
  readonly result: JsonObject;
  readonly error?: JsonObject;
}

function fieldsOf(message: JSONRPCMessage): Fields {
  const { method, id, params, result, error } = message as unknown as Record<string, JsonValue | undefined>;
  return {
    ...(typeof method === "string" ? { method } : {}),
    ...(typeof id === "string" || typeof id === "number" ? { id } : {}),
    params: isJsonObject(params) ? params : {},
    result: isJsonObject(result) ? result : {},
    ...(isJsonObject(error) ? { error } : {}),
  };
}

function textOf(object: JsonObject, name: string): string | undefined {
  const value = member(object, name);
  return typeof value === "string" ? value : undefined;
}
