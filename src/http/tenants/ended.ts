/** Calls back when the body of a response was read to its end, was cancelled or failed. */
export function whenEnded(response: Response, ended: () => void): Response {
  const { body } = response;
  if (body === null) {
    ended();
    return response;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const passed = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      ended();
    },
    cancel: async (reason) => {
      ended();
      await reader.cancel(reason);
    },
  });
  return new Response(passed, response);
}
