/** How a body ended. */
export type BodyEnd = "complete" | "abandoned" | { readonly error: unknown };

/** The same response, with one callback at its end. Reads nothing ahead. */
export function watchBody(response: Response, onEnd: (end: BodyEnd) => void): Response {
  if (response.body === null) return response;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  let left = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          // Cancelled during a read: the end was already reported, and there is nothing to close.
          if (left) return;
          if (value !== undefined) return controller.enqueue(value);
          if (done) controller.close();
          onEnd("complete");
        } catch (error) {
          if (left) return;
          controller.error(error);
          onEnd({ error });
        }
      },
      async cancel(reason) {
        left = true;
        onEnd("abandoned");
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
