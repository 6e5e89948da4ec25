import type { MiddlewareHandler } from "hono";
import { CountersignError, parseJson } from "../../protocol/index.ts";
import type { HttpEnv } from "../env.ts";
import { notJson } from "./content-type.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** From now to the last byte. */
  readonly timeoutMs: number;
}

/** Whose bodies are read differently, by path. */
export interface BodyPaths {
  /** Any bytes. */
  readonly isRaw: (path: string) => boolean;
  /** Nobody is logged in, and there is little to say: 64 kB. */
  readonly isOpen: (path: string) => boolean;
}

const OPEN_BYTES = 65_536;
const NONE: BodyPaths = { isRaw: () => false, isOpen: () => false };

/**
 * Reads the whole body once, before any route does. Limits its size and time, and accepts only JSON that can be stored
 * and read back, except for raw paths. Never holds more than the limit.
 */
export function readBody(
  { maxBytes: most, timeoutMs }: BodyLimits,
  { isRaw, isOpen }: BodyPaths = NONE,
): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { raw } = context.req;
    if (raw.body === null) return next();
    const maxBytes = isOpen(context.req.path) ? Math.min(most, OPEN_BYTES) : most;
    if (Number(raw.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
    const bytes = await inTime(raw.body.getReader(), { maxBytes, timeoutMs });
    const needsJson = bytes.length > 0 && !isRaw(context.req.path);
    if (needsJson && !raw.headers.has("content-type")) throw notJson(null);
    if (needsJson) checkJson(bytes, maxBytes);
    context.req.raw = new Request(raw, { method: raw.method, body: bytes });
    return next();
  };
}

async function inTime(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { maxBytes, timeoutMs }: BodyLimits,
): Promise<Uint8Array<ArrayBuffer>> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(
        new CountersignError("too-slow", `The body did not arrive within ${timeoutMs} ms. Send it again.`),
      ),
    timeoutMs,
  );
  try {
    return await Promise.race([collect(reader, maxBytes), late]);
  } catch (error) {
    // The rest of the body is ignored, and so are errors while cancelling it.
    reader.cancel().catch(() => {});
    if (CountersignError.isInstance(error)) throw error;
    throw new CountersignError("malformed-request", "The body ended before it was complete.", {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(Buffer.concat(chunks, length));
    length += value.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
}

function checkJson(bytes: Uint8Array, maxBytes: number): void {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CountersignError("malformed-json", "The body is not UTF-8.", { cause });
  }
  const parsed = parseJson(text, { maxBytes });
  if (parsed.ok) return;
  const details = parsed.path ? { field: parsed.path } : {};
  throw new CountersignError("malformed-json", parsed.message, { details });
}

function tooLarge(maxBytes: number): CountersignError {
  return new CountersignError("too-large", `The body is larger than ${maxBytes} bytes.`);
}
