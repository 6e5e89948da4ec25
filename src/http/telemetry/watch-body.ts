/** How a body came to its end. */
export type BodyEnd = "complete" | "abandoned" | { readonly error: unknown };

/** The same response, whose end is told, once. Reads nothing ahead: its reader sets the pace as before. */
export function watchBody(response: Response, onEnd: (end: BodyEnd) => void): Response {
  if (response.body === null) return response;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  let left = false;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          // Cancelled while it was waited for, which ends the wait: that was told, and there is nothing to close.
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
