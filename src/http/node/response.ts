import type { ServerResponse } from "node:http";
import { isEventStream } from "../event-stream.ts";

/** A response that is being written. */
export interface Sending {
  /** Resolves when all of it is written or the client is gone. Never rejects. */
  readonly done: Promise<void>;
  /** Ends it between two chunks as if nothing more had been there to send. */
  stop(): void;
}

/**
 * Writes a response, as fast as its reader takes it and no faster. A reader that takes nothing for `stalledMs` is
 * cut off; one that leaves cancels the body, so that whoever produces it stops.
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
    // Half an answer must not look whole.
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
