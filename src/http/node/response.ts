import type { ServerResponse } from "node:http";
import { isEventStream } from "../event-stream.ts";

/** A response that is being written. */
export interface Sending {
  /** Resolves when all of it is written or the client is gone. Never rejects. */
  readonly done: Promise<void>;
  /** Ends it cleanly between two chunks. */
  stop(): void;
}

/**
 * Writes a response at the reader's speed. A reader that reads nothing for `stalledMs` is disconnected; a disconnect
 * cancels the body, so that its producer stops.
 */
export function sendResponse(response: Response, outgoing: ServerResponse, stalledMs: number): Sending {
  if (outgoing.destroyed || outgoing.headersSent) return { done: discard(response), stop: () => {} };
  outgoing.writeHead(response.status, headersOf(response.headers));
  const { body } = response;
  if (body === null || outgoing.req.method === "HEAD") {
    outgoing.end();
    return { done: discard(response), stop: () => {} };
  }
  if (isEventStream(response)) outgoing.flushHeaders();
  const reader = body.getReader();
  const stop = (): void => {
    reader.cancel().catch(() => {});
  };
  outgoing.once("close", stop);
  return { done: pump(reader, outgoing, stalledMs), stop };
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  outgoing: ServerResponse,
  stalledMs: number,
): Promise<void> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!outgoing.write(next.value)) await drained(outgoing, stalledMs);
    }
    outgoing.end();
  } catch {
    // A partial answer must not look complete.
    outgoing.destroy();
  }
}

async function drained(outgoing: ServerResponse, stalledMs: number): Promise<void> {
  if (outgoing.destroyed) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => outgoing.destroy(), stalledMs);
    const done = (): void => {
      clearTimeout(timer);
      outgoing.off("drain", done).off("close", done);
      resolve();
    };
    outgoing.once("drain", done).once("close", done);
  });
}

async function discard({ body }: Response): Promise<void> {
  await body?.cancel().catch(() => {});
}

function headersOf(headers: Headers): string[] {
  // As a flat list, because several cookies are several headers.
  return [...headers].flat();
}
