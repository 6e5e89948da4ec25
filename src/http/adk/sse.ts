import { toSseChunk } from "./wire.ts";

/**
 * One event per chunk, read only as fast as the client takes them. The first is requested at once, so that the message
 * is accepted even if nobody reads on. A client that disconnects only stops the reading.
 */
export function toSse(
  events: AsyncGenerator<object>,
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
      // Takes effect at the next event; a failure here has no one to report to.
      events.return(undefined).catch(() => {});
    },
  });
}

async function nextChunk(
  events: AsyncGenerator<object>,
  lastWords: (error: unknown) => string,
): Promise<{ readonly chunk?: string; readonly last: boolean }> {
  try {
    const next = await events.next();
    return next.done === true ? { last: true } : { chunk: toSseChunk(next.value), last: false };
  } catch (error) {
    return { chunk: lastWords(error), last: true };
  }
}
