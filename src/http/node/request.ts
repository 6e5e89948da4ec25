import type { IncomingMessage, ServerResponse } from "node:http";
import { CountersignError } from "../../protocol/index.ts";
import { NO_HOST } from "../guards/host.ts";

/** What an earlier body parser leaves on a request, and Express's mount path. */
export interface MountedMessage extends IncomingMessage {
  readonly body?: unknown;
  readonly originalUrl?: string;
}

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD"]);
/** They describe the bytes as they were sent, not what a body parser made of them. */
const ABOUT_SENT_BYTES: ReadonlySet<string> = new Set([
  "content-length",
  "content-encoding",
  "transfer-encoding",
]);

/**
 * The request as a web `Request`. Its signal aborts when the client goes away before its answer is complete. Throws
 * `malformed-request` for requests that HTTP/1.1 forbids, or that `Request` cannot represent.
 */
export function toRequest(
  incoming: MountedMessage,
  outgoing: ServerResponse,
  scheme: "http" | "https",
): Request {
  const gone = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort(new Error("The client disconnected."));
  });
  const method = incoming.method ?? "GET";
  const parsed = incoming.readableEnded;
  const init = { method, headers: headersOf(incoming, parsed), signal: gone.signal, duplex: "half" as const };
  const body = BODILESS.has(method) ? null : parsed ? parsedBody(incoming) : sentBody(incoming);
  const url = `${scheme}://${hostOf(incoming)}${targetOf(incoming)}`;
  try {
    return new Request(url, { ...init, body });
  } catch (cause) {
    throw malformed("The request's method or address is invalid.", cause);
  }
}

function hostOf({ headersDistinct, httpVersion }: IncomingMessage): string {
  const hosts = headersDistinct["host"] ?? [];
  // Load balancers send such requests; the app refuses what is not allowed.
  if (hosts.length === 0 && httpVersion === "1.0") return NO_HOST;
  const [host] = hosts;
  if (host !== undefined && hosts.length === 1 && HOST.test(host)) return host;
  throw malformed("A request needs exactly one Host header, with only a host name.");
}

// Joined to the host as text: as a relative address, `//elsewhere/` would be another host.
function targetOf({ url = "/", originalUrl = url, headers }: MountedMessage): string {
  if (originalUrl.startsWith("/")) return originalUrl;
  const [, host = "", path = ""] = /^https?:\/\/([^/?#]+)([^#]*)$/i.exec(originalUrl) ?? [];
  if (host !== "" && host === headers.host) return path.startsWith("/") ? path : `/${path}`;
  throw malformed("The request target must be a path, or a URL whose host matches the Host header.");
}

function headersOf({ rawHeaders }: IncomingMessage, parsed: boolean): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    if (parsed && ABOUT_SENT_BYTES.has(name.toLowerCase())) continue;
    headers.append(name, rawHeaders[i + 1] ?? "");
  }
  return headers;
}

/**
 * The body as it arrives. Nothing is read before it is needed, so that the next handler finds the body untouched. Node
 * discards an unread body after the answer.
 */
function sentBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let stop: (() => void) | undefined;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        stop ??= forward(incoming, controller);
        incoming.resume();
      },
      cancel() {
        stop?.();
        incoming.pause();
      },
    },
    { highWaterMark: 0 },
  );
}

function forward(
  incoming: IncomingMessage,
  controller: ReadableStreamDefaultController<Uint8Array>,
): () => void {
  const onData = (chunk: Buffer): void => {
    incoming.pause();
    controller.enqueue(chunk);
  };
  const onEnd = (): void => {
    stop();
    controller.close();
  };
  const onGone = (): void => {
    stop();
    controller.error(new Error("The client disconnected before its request was complete."));
  };
  const stop = (): void => {
    incoming.off("data", onData).off("end", onEnd).off("close", onGone).off("error", onGone);
  };
  incoming.on("data", onData).once("end", onEnd).once("close", onGone).once("error", onGone);
  // Then it has said so already, and will not again.
  if (incoming.destroyed) onGone();
  return stop;
}

// A body parser has already read the stream; its result is serialised again.
function parsedBody({
  body,
  headers,
}: MountedMessage): string | Uint8Array<ArrayBuffer> | URLSearchParams | null {
  if (body === undefined || body === null) return null;
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? ""))
    return JSON.stringify(body);
  return new URLSearchParams(
    Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]),
  );
}

function malformed(message: string, cause?: unknown): CountersignError {
  return new CountersignError("malformed-request", message, cause === undefined ? {} : { cause });
}
