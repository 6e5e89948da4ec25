/**
 * A stream of JSON-RPC answers, one event per chunk, read only as fast as the client takes them. A disconnect only
 * stops the reading. An error is the last event.
 */
export function sseBody(
  first: IteratorResult<unknown>,
  rest: AsyncGenerator,
  toError: (error: unknown) => unknown,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<unknown>> | undefined = Promise.resolve(first);
  let left = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const told = await (next ?? rest.next()).catch((error: unknown) => ({ failed: error }));
      next = undefined;
      if (left) return;
      if ("failed" in told) {
        controller.enqueue(encoder.encode(`event: error\ndata: ${JSON.stringify(toError(told.failed))}\n\n`));
        controller.close();
      } else if (told.done === true) {
        controller.close();
      } else {
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(told.value)}\n\n`));
      }
    },
    cancel() {
      left = true;
      // Takes effect at the next event; a failure here has no one to report to.
      rest.return(undefined).catch(() => {});
    },
  });
}
