import type { Event } from "../../protocol/index.ts";
import { toSseChunk } from "./wire.ts";

/**
 * One event a chunk, read only as fast as the client takes them. The first is asked for at once, so that the
 * message is taken whether or not anybody reads on; a client that leaves only stops the reading.
 */
export function toSse(
  events: AsyncGenerator<Event>,
  lastWords: (error: unknown) => string,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let left = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await nextChunk(events, lastWords);
      if (left) return;
      if (next.chunk !== undefined) controller.enqueue(encoder.encode(next.chunk));
      if (next.last) controller.close();
    },
    cancel() {
      left = true;
      // Takes effect when what is being waited for comes; there is nobody to tell if that fails.
      events.return(undefined).catch(() => {});
    },
  });
}

async function nextChunk(
  events: AsyncGenerator<Event>,
  lastWords: (error: unknown) => string,
): Promise<{ readonly chunk?: string; readonly last: boolean }> {
  try {
    const next = await events.next();
    return next.done === true ? { last: true } : { chunk: toSseChunk(next.value), last: false };
  } catch (error) {
    return { chunk: lastWords(error), last: true };
  }
}
