import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { member } from "../../protocol/index.ts";
import { fieldsOf, isRequestId, type RequestId } from "../rpc/index.ts";
import { EventStream } from "./event-stream.ts";

// How many server messages are kept while no stream is open.
const MOST_KEPT = 1_000;

/**
 * A client over streamable HTTP. Each request is answered on its own stream. Other server messages go to the stream
 * that the client opened for them, else to one of those.
 */
export class HttpClient implements Transport {
  onmessage: Transport["onmessage"];
  onclose: Transport["onclose"];
  onerror: Transport["onerror"];
  readonly sessionId: string;
  /** Resolves when messages can be received. */
  readonly started: Promise<void>;
  lastSeen: number = performance.now();
  readonly #starting = Promise.withResolvers<void>();
  readonly #answers = new Map<RequestId, EventStream>();
  readonly #kept: JSONRPCMessage[] = [];
  #listening: EventStream | undefined;
  #closed = false;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
    this.started = this.#starting.promise;
  }

  /** Is an answer awaited, or somebody listening? */
  get isBusy(): boolean {
    return this.#answers.size > 0 || this.#listening !== undefined;
  }

  async start(): Promise<void> {
    this.#starting.resolve();
  }

  /** Takes a message. Returns the answer stream for a request, undefined for anything else. */
  receive(message: JSONRPCMessage): ReadableStream<Uint8Array> | undefined {
    this.lastSeen = performance.now();
    const { id, method, params } = fieldsOf(message);
    const stream = id === undefined || method === undefined ? undefined : this.#openAnswer(id);
    if (method === "notifications/cancelled") this.#endAnswer(member(params, "requestId"));
    this.onmessage?.(message);
    return stream?.body;
  }

  isAnswering(id: RequestId): boolean {
    return this.#answers.has(id);
  }

  /** A stream for server messages; it replaces an earlier one. */
  listen(): ReadableStream<Uint8Array> {
    this.lastSeen = performance.now();
    this.#listening?.end();
    const stream = new EventStream(() => {
      if (this.#listening === stream) this.#listening = undefined;
    });
    this.#listening = stream;
    for (const message of this.#kept.splice(0)) stream.send(message);
    return stream.body;
  }

  /** Throws for an answer that nobody reads any more: it must not count as delivered. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const { id, method } = fieldsOf(message);
    if (this.#closed) throw new Error("the client has disconnected");
    if (method === undefined && id !== undefined) return this.#answer(id, message);
    const related = options?.relatedRequestId;
    const stream = (related === undefined ? undefined : this.#answers.get(related)) ?? this.#streamFor();
    if (stream !== undefined) stream.send(message);
    else if (this.#kept.push(message) > MOST_KEPT) this.#kept.shift();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const stream of this.#answers.values()) stream.end();
    this.#listening?.end();
    this.onclose?.();
  }

  // If one request is open, the message is most likely about that.
  #streamFor(): EventStream | undefined {
    const [first] = this.#answers.values();
    return this.#answers.size === 1 ? first : (this.#listening ?? first);
  }

  #openAnswer(id: RequestId): EventStream {
    const stream = new EventStream(() => {
      this.lastSeen = performance.now();
      if (this.#answers.get(id) === stream) this.#answers.delete(id);
    });
    this.#answers.set(id, stream);
    return stream;
  }

  #answer(id: RequestId, message: JSONRPCMessage): void {
    const stream = this.#answers.get(id);
    if (stream === undefined) throw new Error("the client has disconnected");
    stream.send(message);
    stream.end();
  }

  #endAnswer(id: unknown): void {
    if (isRequestId(id)) this.#answers.get(id)?.end();
  }
}
