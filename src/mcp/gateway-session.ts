/* oxlint-disable unicorn/prefer-add-event-listener -- a transport is no event target */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { type JsonObject, type JsonValue, member } from "../protocol/index.ts";
import type { GatedRequest } from "./gateway.ts";
import { failure } from "./gateway-outcome.ts";
import {
  errorMessage,
  fieldsOf,
  isRequestId,
  objectOf,
  type RequestId,
  RPC_CODES,
  textOf,
  toErrorMessage,
} from "./json-rpc.ts";
import { isLostSession } from "./outcome.ts";
import { Upstream, UpstreamError } from "./upstream.ts";
import { WaitingNotice } from "./waiting-notice.ts";
import { withoutTasks } from "./without-tasks.ts";

/** What a session asks of the gateway that it belongs to. */
interface Gateway {
  isGated(tool: string): boolean;
  define(tools: readonly JsonObject[]): void;
  call(request: GatedRequest, onOutcome: (result: JsonObject) => Promise<void>): Promise<void>;
}

interface Held {
  readonly givenUp: AbortController;
  readonly notice: WaitingNotice;
}

const GONE = "the MCP server behind Countersign is gone";
const STOPPING = "Countersign stops; what was asked stays open, and the same call again finds it";

/** One client and the server behind it: a pipe in which calls of gated tools are taken out. */
export class GatewaySession {
  readonly #client: Transport;
  readonly #upstream: Upstream;
  readonly #gateway: Gateway;
  /** Requests of the client that the server has to answer, by method. */
  readonly #passed = new Map<RequestId, string>();
  readonly #held = new Map<RequestId, Held>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #ended = Promise.withResolvers<string>();
  #initializing: RequestId | undefined;
  #ready = false;
  /** The names of what the server lists for this client. */
  #tools: ReadonlySet<string | undefined> = new Set();
  /** What a tool is must be known before anybody is asked about it: not before the handshake is done. */
  #learned: Promise<void> = new Promise(() => {});

  constructor(client: Transport, upstream: Transport, gateway: Gateway) {
    this.#client = client;
    this.#upstream = new Upstream(upstream);
    this.#gateway = gateway;
  }

  /** Has the client finished its handshake, so that the server takes requests? */
  get isReady(): boolean {
    return this.#ready;
  }

  /** Resolves when either side is gone and what ran has ended. Rejects where the server cannot be started. */
  async run(): Promise<void> {
    this.#client.onmessage = (message) => this.#take(message, () => this.#fromClient(message));
    this.#upstream.onMessage = (message) => this.#take(undefined, () => this.#fromServer(message));
    this.#client.onclose = () => this.#ended.resolve(STOPPING);
    this.#upstream.onClose = () => this.#ended.resolve(GONE);
    try {
      await this.#upstream.start();
      await this.#client.start();
      await this.#end(await this.#ended.promise);
    } finally {
      await Promise.allSettled([this.#client.close(), this.#upstream.close()]);
    }
  }

  /** Takes nothing more, tells who waits, and lets what runs come to its end. */
  async close(): Promise<void> {
    this.#ended.resolve(STOPPING);
    await this.#end(STOPPING);
  }

  /** The server's tools as it lists them now. */
  listTools(): Promise<readonly JsonObject[]> {
    return this.#upstream.listTools();
  }

  /** Runs an approved call where it was asked for. Progress goes to the client, if it still waits. */
  runTool(
    tool: string,
    args: JsonObject,
    run: { readonly id: RequestId; readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<JsonObject> {
    const token = this.#held.get(run.id)?.notice.token;
    // Nothing else of what the client sent along: it was not shown to whoever approved.
    const meta = token === undefined ? {} : { _meta: { progressToken: token } };
    const running = this.#upstream.request("tools/call", { name: tool, arguments: args, ...meta }, run);
    const ended = running.catch(() => {});
    this.#running.add(ended);
    ended.finally(() => this.#running.delete(ended)).catch(() => {});
    return running;
  }

  async #end(why: string): Promise<void> {
    this.#ready = false;
    const waiting = [...this.#held.keys(), ...this.#passed.keys()];
    for (const { givenUp } of this.#held.values()) givenUp.abort();
    this.#held.clear();
    this.#passed.clear();
    await Promise.allSettled(waiting.map((id) => this.#client.send(errorMessage(id, RPC_CODES.gone, why))));
    await Promise.allSettled(this.#running);
  }

  // A request that cannot be passed on is answered so; anything else that cannot ends the session, and not silently.
  #take(request: JSONRPCMessage | undefined, handle: () => Promise<void>): void {
    handle().catch(async (error: unknown) => {
      const { id, method } = request === undefined ? {} : fieldsOf(request);
      const isPassing = id !== undefined && method !== undefined && method !== "initialize";
      if (!isPassing || isLostSession(error)) return this.#ended.resolve(GONE);
      this.#passed.delete(id);
      await this.#client.send(toErrorMessage(id, error)).catch(() => {});
    });
  }

  async #fromClient(message: JSONRPCMessage): Promise<void> {
    const { method, id, params } = fieldsOf(message);
    if (method === "tools/call" && (await this.#judge(id, params))) return;
    if (method === "notifications/cancelled" && this.#giveUp(params)) return;
    if (method === "server/discover") {
      // What comes after it is another protocol, that the gate does not read; clients go on with `initialize`.
      await this.#refuse(id, RPC_CODES.unknownMethod, "server/discover is not offered here");
      return;
    }
    if (method === "initialize") this.#initializing = id;
    if (method !== undefined && id !== undefined) this.#passed.set(id, method);
    // At once, and not when it was sent: a call may follow on its heels.
    if (method === "notifications/initialized") return this.#relearn(this.#upstream.send(message));
    await this.#upstream.send(message);
  }

  /** Is this call not to be passed on? Whatever may mean a gated tool, and cannot be held, is refused. */
  async #judge(id: RequestId | undefined, params: JsonObject): Promise<boolean> {
    const tool = textOf(params, "name");
    if (tool !== undefined && !this.#gateway.isGated(tool)) return false;
    if (tool === undefined) await this.#refuse(id, RPC_CODES.invalidParams, "tools/call needs a name");
    else if (member(params, "task") !== undefined)
      await this.#refuse(id, RPC_CODES.invalidParams, `${tool} needs approval, and is not run as a task`);
    else if (id !== undefined && this.#held.has(id))
      await this.#refuse(id, RPC_CODES.invalidRequest, "this id is in use");
    else if (id !== undefined) this.#hold(id, tool, params);
    return true;
  }

  async #fromServer(message: JSONRPCMessage): Promise<void> {
    const { method, id, result, params } = fieldsOf(message);
    if (method === undefined && id !== undefined) return this.#answer(id, result, message);
    if (method === "notifications/tools/list_changed") await this.#relearn();
    const token = method === "notifications/progress" ? member(params, "progressToken") : undefined;
    const notice = this.#noticeOf(token);
    await this.#client.send(
      notice === undefined ? message : notice.shifted(message),
      notice === undefined ? undefined : { relatedRequestId: notice.id },
    );
  }

  async #answer(id: RequestId, result: JsonObject, message: JSONRPCMessage): Promise<void> {
    const method = this.#passed.get(id);
    // Nobody asked it this; least of all may it answer a call that waits for a person.
    if (method === undefined) return;
    this.#passed.delete(id);
    if (id === this.#initializing) this.#upstream.adopt(result);
    const told =
      method === "tools/list" ? withoutTasks(message, (tool) => this.#gateway.isGated(tool)) : message;
    // A client that no longer reads this answer has given it up.
    await this.#client.send(told).catch(() => {});
  }

  #noticeOf(token: JsonValue | undefined): WaitingNotice | undefined {
    if (token === undefined) return undefined;
    return [...this.#held.values()].find(({ notice }) => notice.token === token)?.notice;
  }

  #relearn(before?: Promise<void>): Promise<void> {
    this.#learned = Promise.resolve(before).then(() => this.#learn());
    return this.#learned;
  }

  async #learn(): Promise<void> {
    const tools = await this.#upstream.listTools().catch((error: unknown) => {
      // A server may have no tools at all, and much else.
      if (error instanceof UpstreamError) return [];
      throw error;
    });
    this.#gateway.define(tools);
    this.#tools = new Set(tools.map((tool) => textOf(tool, "name")));
    this.#ready = true;
  }

  #hold(id: RequestId, tool: string, params: JsonObject): void {
    const givenUp = new AbortController();
    const token = member(objectOf(params, "_meta"), "progressToken");
    const notice = new WaitingNotice(this.#client, id, isRequestId(token) ? token : undefined);
    this.#held.set(id, { givenUp, notice });
    const request: GatedRequest = {
      tool,
      args: objectOf(params, "arguments"),
      session: this,
      id,
      signal: givenUp.signal,
      onWaiting: (message) => notice.tell(message),
    };
    // Not awaited: others of this client's messages go on meanwhile.
    const tell = async (result: JsonObject): Promise<void> =>
      this.#client.send({ jsonrpc: "2.0", id, result });
    this.#learned
      .then(() =>
        this.#tools.has(tool)
          ? this.#gateway.call(request, tell)
          : tell(failure(`there is no tool "${tool}"`)),
      )
      .catch(async (error: unknown) => {
        if (!givenUp.signal.aborted) await this.#client.send(toErrorMessage(id, error));
      })
      // Nobody is there to be told.
      .catch(() => {})
      .finally(() => this.#held.delete(id));
  }

  async #refuse(id: RequestId | undefined, code: number, message: string): Promise<void> {
    if (id !== undefined) await this.#client.send(errorMessage(id, code, message));
  }

  #giveUp(params: JsonObject): boolean {
    const id = member(params, "requestId");
    const held = isRequestId(id) ? this.#held.get(id) : undefined;
    held?.givenUp.abort();
    return held !== undefined;
  }
}
