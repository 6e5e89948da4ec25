/* oxlint-disable unicorn/prefer-add-event-listener -- a transport is no event target */
import {
  type JSONRPCMessage,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from "@modelcontextprotocol/client";
import { type JsonObject, type JsonValue, member } from "../../protocol/index.ts";
import {
  type ClientAnswer,
  type ClientNotification,
  type ClientRequest,
  errorMessage,
  fieldsOf,
  isRequestId,
  objectOf,
  type RequestId,
  RPC_CODES,
  textOf,
  toClientMessage,
  toErrorMessage,
  toWire,
  withoutTasks,
} from "../rpc/index.ts";
import { isLostSession, Upstream, UpstreamError } from "../servers/index.ts";
import { duplicateMember } from "../tools/index.ts";
import type { GatedRequest } from "./gateway.ts";
import { ambiguous, failure } from "./gateway-outcome.ts";
import { ListedTools } from "./listed-tools.ts";
import { WaitingNotice } from "./waiting-notice.ts";

/** What a session needs from its gateway. */
interface Gateway {
  isGated(tool: string): boolean;
  isRuled(tool: string, args: JsonObject): Promise<boolean>;
  define(tools: ListedTools): void;
  call(request: GatedRequest, onOutcome: (result: JsonObject) => Promise<void>): Promise<void>;
}

interface Held {
  readonly cancelled: AbortController;
  readonly notice: WaitingNotice;
}

const GONE = "the connection to the MCP server behind Countersign was lost";
const STOPPING = "Countersign is shutting down; the question stays open, and the same call finds it again";

/**
 * One client and the server behind it. Client messages are checked and written again, never passed on as they came.
 * Calls of gated tools are held, and messages that are not understood are refused.
 */
export class GatewaySession {
  readonly #client: Transport;
  readonly #upstream: Upstream;
  readonly #gateway: Gateway;
  /** Requests of the client that the server has to answer, by method. */
  readonly #passed = new Map<RequestId, string>();
  readonly #held = new Map<RequestId, Held>();
  /** What the server has asked of the client. */
  readonly #asked = new Set<RequestId>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #ended = Promise.withResolvers<string>();
  #initializing: RequestId | undefined;
  #ready = false;
  /** What the server lists for this client. */
  #tools = new ListedTools([]);
  /** The tools must be known before a call: undefined until the handshake is done. */
  #learned: Promise<void> | undefined;
  #listing: Promise<void> | undefined;

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
    this.#client.onmessage = (message) => this.#fromClient(message);
    this.#upstream.onMessage = (message) => this.#take(() => this.#fromServer(message));
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

  /** Accepts nothing more, answers waiting calls, and lets running calls finish. */
  async close(): Promise<void> {
    this.#ended.resolve(STOPPING);
    await this.#end(STOPPING);
  }

  /** The server's tools as it lists them now. */
  listTools(): Promise<readonly JsonObject[]> {
    return this.#upstream.listTools();
  }

  /** Runs an approved call on the connection that asked for it. Progress goes to the client, if it still waits. */
  runTool(
    tool: string,
    args: JsonObject,
    run: { readonly id: RequestId; readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<JsonObject> {
    const token = this.#held.get(run.id)?.notice.token;
    // Nothing else of the client's message: the approver did not see it.
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
    for (const { cancelled } of this.#held.values()) cancelled.abort();
    this.#held.clear();
    this.#passed.clear();
    await Promise.allSettled(waiting.map((id) => this.#client.send(errorMessage(id, RPC_CODES.gone, why))));
    await Promise.allSettled(this.#running);
  }

  // If a request cannot be passed on, it gets an error; for any other message the session ends with an error.
  #take(handle: () => Promise<void>, request?: ClientRequest): void {
    handle().catch(async (error: unknown) => {
      if (request === undefined || request.method === "initialize" || isLostSession(error))
        return this.#ended.resolve(GONE);
      this.#passed.delete(request.id);
      await this.#client.send(toErrorMessage(request.id, error)).catch(() => {});
    });
  }

  #fromClient(given: unknown): void {
    const message = toClientMessage(given);
    switch (message.kind) {
      case "refused":
        return this.#take(() => this.#refuse(message.id, message.code, message.message));
      case "answer":
        return this.#take(() => this.#passAnswer(message));
      case "notification":
        return this.#take(() => this.#passNotification(message));
      case "request":
        return this.#take(() => this.#passRequest(message), message);
    }
  }

  async #passAnswer(answer: ClientAnswer): Promise<void> {
    // Only answers to open requests of the server, once each.
    if (this.#asked.delete(answer.id)) await this.#upstream.send(toWire(answer));
  }

  async #passNotification(notification: ClientNotification): Promise<void> {
    const { method, params = {} } = notification;
    const sent = (): Promise<void> => this.#upstream.send(toWire(notification));
    if (method === "notifications/cancelled" && !this.#giveUp(params)) return;
    // Set at once, not after sending: a call may follow immediately.
    if (method === "notifications/initialized") return this.#relearn(sent());
    await sent();
  }

  async #passRequest(request: ClientRequest): Promise<void> {
    const { id, method, params = {} } = request;
    if (this.#held.has(id) || this.#passed.has(id))
      return this.#refuse(id, RPC_CODES.invalidRequest, "this request id is already in use");
    if (method === "tools/call") return this.#call(request, params);
    if (method === "initialize") {
      if (this.#initializing !== undefined)
        return this.#refuse(id, RPC_CODES.invalidRequest, "this session is already initialized");
      this.#initializing = id;
    }
    this.#passed.set(id, method);
    await this.#upstream.send(toWire(request));
  }

  /** Holds a gated call, passes on an ungated one, and refuses anything else. */
  async #call(request: ClientRequest, params: JsonObject): Promise<void> {
    const { id, method } = request;
    const tool = textOf(params, "name") ?? "";
    if (this.#learned === undefined)
      return this.#refuse(id, RPC_CODES.invalidRequest, "send notifications/initialized first");
    if (this.#gateway.isGated(tool)) return this.#hold(id, tool, params);
    this.#passed.set(id, method);
    await this.#learned;
    const missing = await this.#whyMissing(tool);
    const isRuled =
      missing === undefined && (await this.#gateway.isRuled(tool, objectOf(params, "arguments")));
    // Cancelled meanwhile, or the session has ended.
    if (!this.#passed.has(id)) return;
    if (missing === undefined && !isRuled) return this.#upstream.send(toWire(request));
    this.#passed.delete(id);
    if (missing === undefined) return this.#hold(id, tool, params);
    await this.#client.send({ jsonrpc: "2.0", id, result: failure(missing) });
  }

  async #fromServer(message: JSONRPCMessage): Promise<void> {
    const { method, id, result, params } = fieldsOf(message);
    if (method === undefined && id !== undefined) return this.#answer(id, result, message);
    if (method === "notifications/tools/list_changed" && this.#learned !== undefined) await this.#relearn();
    if (method !== undefined && id !== undefined) this.#asked.add(id);
    const token = method === "notifications/progress" ? member(params, "progressToken") : undefined;
    const notice = this.#noticeOf(token);
    await this.#client.send(
      notice === undefined ? message : notice.shifted(message),
      notice === undefined ? undefined : { relatedRequestId: notice.id },
    );
  }

  async #answer(id: RequestId, result: JsonObject, message: JSONRPCMessage): Promise<void> {
    const method = this.#passed.get(id);
    // Not an open request; the server must never answer a call that waits for a person.
    if (method === undefined) return;
    this.#passed.delete(id);
    if (id === this.#initializing) {
      const version = textOf(result, "protocolVersion");
      if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version))
        return this.#refuse(
          id,
          RPC_CODES.invalidRequest,
          `the server uses protocol version ${version}, which the gateway does not support`,
        );
      this.#upstream.adopt(result);
    }
    const told =
      method === "tools/list" ? withoutTasks(message, (tool) => this.#gateway.isGated(tool)) : message;
    // The client no longer reads this answer.
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
    const listed = await this.#upstream.listTools().catch((error: unknown) => {
      // A server may have no tools at all, and much else.
      if (error instanceof UpstreamError) return [];
      throw error;
    });
    this.#tools = new ListedTools(listed);
    this.#gateway.define(this.#tools);
    this.#ready = true;
  }

  /**
   * Why there is no tool of this name; undefined if there is one. A server may have added one without announcing it.
   */
  async #whyMissing(tool: string): Promise<string | undefined> {
    if (this.#tools.get(tool) === undefined) {
      this.#listing ??= this.#learn().finally(() => {
        this.#listing = undefined;
      });
      await this.#listing;
    }
    if (this.#tools.get(tool) === undefined) return `there is no tool "${tool}"`;
    return this.#tools.isAmbiguous(tool) ? ambiguous(tool) : undefined;
  }

  async #hold(id: RequestId, tool: string, params: JsonObject): Promise<void> {
    const flaw = flawOfGated(tool, params);
    if (flaw !== undefined) return this.#refuse(id, RPC_CODES.invalidParams, flaw);
    const cancelled = new AbortController();
    const token = member(objectOf(params, "_meta"), "progressToken");
    const notice = new WaitingNotice(this.#client, id, isRequestId(token) ? token : undefined);
    this.#held.set(id, { cancelled, notice });
    const request: GatedRequest = {
      tool,
      args: objectOf(params, "arguments"),
      session: this,
      id,
      signal: cancelled.signal,
      onWaiting: (message) => notice.tell(message),
    };
    // Not awaited: others of this client's messages go on meanwhile.
    const tell = async (result: JsonObject): Promise<void> =>
      this.#client.send({ jsonrpc: "2.0", id, result });
    const ask = async (): Promise<void> => {
      await this.#learned;
      const missing = await this.#whyMissing(tool);
      return missing === undefined ? this.#gateway.call(request, tell) : tell(failure(missing));
    };
    ask()
      .catch(async (error: unknown) => {
        if (!cancelled.signal.aborted) await this.#client.send(toErrorMessage(id, error));
      })
      // The client is gone.
      .catch(() => {})
      .finally(() => this.#held.delete(id));
  }

  async #refuse(id: RequestId | null | undefined, code: number, message: string): Promise<void> {
    if (id !== undefined) await this.#client.send(errorMessage(id, code, message));
  }

  /** Cancels a waiting call. Returns whether the server must be told. */
  #giveUp(params: JsonObject): boolean {
    const id = member(params, "requestId");
    if (!isRequestId(id) || id === this.#initializing) return false;
    this.#held.get(id)?.cancelled.abort();
    return this.#passed.delete(id);
  }
}

/** Why a person cannot be asked about a call; undefined if they can. */
function flawOfGated(tool: string, params: JsonObject): string | undefined {
  if (member(params, "task") !== undefined) return `${tool} needs approval, so it cannot run as a task`;
  const twin = duplicateMember(objectOf(params, "arguments"), "arguments");
  if (twin === undefined) return undefined;
  return `${twin} and another member differ only in case; send only one of them`;
}
