import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CountersignError } from "../../protocol/index.ts";
import type { App } from "../app.ts";
import { isEventStream } from "../event-stream.ts";
import { type Logger, SILENT } from "../log.ts";
import { answerOf } from "./bridge.ts";
import { DEFAULT_LIMITS, type ServerLimits } from "./limits.ts";
import { refusalOf, refusalText } from "./refusal.ts";
import type { MountedMessage } from "./request.ts";
import { type Sending, sendResponse } from "./response.ts";

export interface ServeOptions {
  readonly app: Pick<App, "fetch"> & Partial<Pick<App, "leave" | "drain">>;
  /** `127.0.0.1` if nothing is said. */
  readonly host?: string;
  /** 8000 if nothing is said; 0 takes a free one. */
  readonly port?: number;
  /** How many proxies of yours stand in front; none if nothing is said. */
  readonly trustProxy?: number;
  /** Where faults of the server itself go; the app has its own. */
  readonly logger?: Logger;
  readonly limits?: Partial<ServerLimits>;
}

/** How a server ends; by itself within 10 seconds, and without waiting for balancers. */
export interface CloseOptions {
  readonly graceMs?: number;
  readonly drainMs?: number;
}

/** A server that listens. */
export interface NodeServer {
  readonly url: string;
  readonly port: number;
  /**
   * Takes nothing new and ends live streams; what is being answered has `graceMs` to finish, and is cut off then.
   * For `drainMs` before that everything is answered as before, but `/readyz` says no: time for balancers to notice.
   * Resolves when no connection is left.
   */
  close(options?: CloseOptions): Promise<void>;
}

const DEFAULT_GRACE_MS = 10_000;
// How often Node looks for requests that are late; the limits are as exact as this.
const LATEST_LOOK_MS = 1_000;
// For a stream's end to reach a reader who is still there.
const LAST_WORDS_MS = 500;

/** Serves an app on a port. Resolves once it listens; rejects with `invalid-option` where it cannot. */
export async function serve(options: ServeOptions): Promise<NodeServer> {
  const { host = "127.0.0.1", port = 8000 } = options;
  const listening = new Listening(options);
  await listening.listen(host, port);
  return {
    url: listening.url(host),
    port: listening.port,
    close: ({ graceMs = DEFAULT_GRACE_MS, drainMs = 0 } = {}) => listening.close({ graceMs, drainMs }),
  };
}

/** What is being sent to one client, in one answer. */
interface Answering {
  readonly outgoing: ServerResponse;
  sending?: Sending;
  isStream?: boolean;
  /** A stream that ends only when somebody ends it. */
  isEndless?: boolean;
}

class Listening {
  readonly #options: ServeOptions;
  readonly #limits: ServerLimits;
  readonly #log: Logger;
  readonly #server: Server;
  /** Every connection, with what is being answered on it. */
  readonly #connections = new Map<Socket, Set<Answering>>();
  #closed: Promise<void> | undefined;
  #warned = false;
  /** Is nothing new taken any more? */
  #closing = false;

  constructor(options: ServeOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#log = options.logger ?? SILENT;
    const { headersMs, requestMs, idleMs, headerBytes, connections } = this.#limits;
    this.#server = createServer({
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: idleMs,
      maxHeaderSize: headerBytes,
      connectionsCheckingInterval: Math.min(LATEST_LOOK_MS, headersMs, requestMs),
      // Said by us, as a problem.
      requireHostHeader: false,
    });
    this.#server.maxConnections = connections;
    this.#server.on("connection", (socket: Socket) => this.#onConnection(socket));
    this.#server.on("request", (incoming, outgoing) => this.#onRequest(incoming, outgoing));
    // Whatever else a client expects of us, it gets an answer.
    this.#server.on("checkExpectation", (incoming, outgoing) => this.#onRequest(incoming, outgoing));
    this.#server.on("connect", (_incoming, socket) => socket.end(refusalText(NO_TUNNEL)));
    this.#server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      this.#onClientError(error.code, socket as Socket);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(host: string): string {
    const wildcard = host === "0.0.0.0" || host === "::" || host === "";
    const name = wildcard ? "localhost" : host.includes(":") ? `[${host}]` : host;
    return `http://${name}:${this.port}`;
  }

  async listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(host, port, cause)));
      this.#server.listen({ host, port }, resolve);
    });
    // From now on it is a connection that the system would not give us; the others are not to suffer for it.
    this.#server.on("error", (err) => this.#log.error({ err }, "accepting a connection failed"));
  }

  close(options: Required<CloseOptions>): Promise<void> {
    this.#closed ??= this.#leave(options);
    return this.#closed;
  }

  async #leave({ graceMs, drainMs }: Required<CloseOptions>): Promise<void> {
    this.#options.app.leave?.();
    if (drainMs > 0) await sleep(drainMs);
    await this.#drain(graceMs);
  }

  async #drain(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#options.app.drain?.();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const [socket, answers] of this.#connections) {
      if (answers.size === 0) socket.destroy();
      for (const { sending, isEndless } of answers) if (isEndless === true) sending?.stop();
    }
    const late = setTimeout(() => this.#cutOff(), graceMs);
    await closed;
    clearTimeout(late);
  }

  // A stream is ended, not broken off: what its reader has is whole. Half of any other answer must not look whole.
  #cutOff(): void {
    for (const [socket, answers] of this.#connections) {
      const streams = [...answers].filter(({ isStream }) => isStream === true);
      if (streams.length === 0) socket.destroy();
      for (const { sending } of streams) sending?.stop();
    }
    const force = setTimeout(() => this.#server.closeAllConnections(), LAST_WORDS_MS);
    this.#server.once("close", () => clearTimeout(force));
  }

  #onConnection(socket: Socket): void {
    this.#connections.set(socket, new Set());
    socket.once("close", () => this.#connections.delete(socket));
  }

  #onRequest(incoming: MountedMessage, outgoing: ServerResponse): void {
    const answers = this.#connections.get(incoming.socket);
    const answering: Answering = { outgoing };
    answers?.add(answering);
    outgoing.once("close", () => {
      answers?.delete(answering);
      if (this.#closing && answers?.size === 0) incoming.socket.destroySoon();
    });
    const { app, trustProxy = 0 } = this.#options;
    if (trustProxy === 0 && incoming.headers["x-forwarded-for"] !== undefined) this.#warnOfProxy();
    answerOf({ fetch: app.fetch, proxies: trustProxy, log: this.#log }, incoming, outgoing).then(
      (response) => this.#send(answering, response),
      () => outgoing.destroy(),
    );
  }

  // Once. It may also be a client that only says so; nothing is believed either way.
  #warnOfProxy(): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn(
      {},
      "X-Forwarded-For is ignored. If a proxy is in front of this server, set --trust-proxy 1; otherwise all callers share one rate limit",
    );
  }

  #send(answering: Answering, response: Response): void {
    const { outgoing } = answering;
    // Who leaves asks its clients to come back elsewhere.
    if (this.#closed !== undefined) outgoing.shouldKeepAlive = false;
    answering.sending = sendResponse(response, outgoing, this.#limits.stalledMs);
    answering.isStream = isEventStream(response);
    // A live feed is asked for with GET and has no end of its own; what a POST streams ends with its run.
    answering.isEndless = answering.isStream && outgoing.req.method === "GET";
    if (this.#closing && answering.isEndless) answering.sending.stop();
  }

  #onClientError(code: string | undefined, socket: Socket): void {
    const refusal = refusalOf(code);
    const begun = [...(this.#connections.get(socket) ?? [])].some(({ outgoing }) => outgoing.headersSent);
    if (refusal === undefined || begun || !socket.writable) socket.destroy();
    else socket.end(refusalText(refusal), () => socket.destroy());
  }
}

const NO_TUNNEL = {
  status: 405,
  code: "method-not-allowed",
  message: "This server does not support CONNECT or upgrades.",
} as const;

function cannotListen(host: string, port: number, cause: NodeJS.ErrnoException): CountersignError {
  const why =
    cause.code === "EADDRINUSE"
      ? "the port is in use; choose another, or 0 for a free port"
      : (cause.code ?? cause.message);
  return new CountersignError("invalid-option", `Cannot listen on port ${port} of ${host}: ${why}.`, {
    details: { field: "port" },
    cause,
  });
}
