/** A `fetch` with a limit on the size of an answer, or of each event in a stream. */
export function boundedFetch(mostBytes: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body } = response;
    if (body === null) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    return new Response(body.pipeThrough(bounded(mostBytes, isStream)), response);
  };
}

const NEW_LINE = 10;

function bounded(mostBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      // In a stream an event is a line, so what counts is what has come since the last one ended.
      const lineEnd = isStream ? chunk.lastIndexOf(NEW_LINE) : -1;
      bytes = lineEnd === -1 ? bytes + chunk.length : chunk.length - lineEnd - 1;
      if (bytes <= mostBytes) controller.enqueue(chunk);
      else controller.error(new Error(`The server sent a message of more than ${mostBytes} bytes.`));
    },
  });
}
