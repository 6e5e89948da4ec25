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

/** Options of {@link serve}. */
export interface ServeOptions {
  readonly app: Pick<App, "fetch"> & Partial<Pick<App, "leave" | "drain">>;
  /** Default: `127.0.0.1`. */
  readonly host?: string;
  /** Default: 8000; 0 takes a free port. */
  readonly port?: number;
  /** How many of your proxies are in front. Default: 0. */
  readonly trustProxy?: number;
  /** The log for errors of the server itself; the app has its own. */
  readonly logger?: Logger;
  readonly limits?: Partial<ServerLimits>;
}

/** How a server shuts down. Default: within 10 seconds, without waiting for load balancers. */
export interface CloseOptions {
  readonly graceMs?: number;
  readonly drainMs?: number;
}

/** A listening server. */
export interface NodeServer {
  readonly url: string;
  readonly port: number;
  /**
   * Shuts down. For `drainMs` all requests are still answered, but `/readyz` fails, so that load balancers notice. Then
   * no new connections are accepted, live streams end, and open requests have `graceMs` to finish before they are cut
   * off. Resolves when no connection is left.
   */
  close(options?: CloseOptions): Promise<void>;
}

const DEFAULT_GRACE_MS = 10_000;
// How often Node checks for late requests; the limits are as exact as this.
const LATEST_LOOK_MS = 1_000;
// Time for the end of a stream to reach its reader.
const LAST_WORDS_MS = 500;
// Clients that send on before they are answered send a few; each waits here with all that Node keeps of it.
const MOST_IN_LINE = 100;

/** Serves an app on a port. Resolves once it listens; rejects with `invalid-option` if it cannot. */
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
    // Answers normally, whatever the `Expect` header says.
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
    // From now on this is an error of a single connection; the others must not be affected.
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

  // A stream is ended cleanly, so that its reader has complete events. A partial answer of any other kind must not look
  // complete.
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
    // What was sent behind it is not answered either.
    if (incoming.socket.destroyed) return;
    if (answers !== undefined && answers.size >= MOST_IN_LINE) return void incoming.socket.destroy();
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

  // Warns once. The header may also come from a client; it is ignored in both cases.
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
    // A server that shuts down tells its clients to reconnect elsewhere.
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
