/** One message of an event stream; `data` is undefined if there was only an id. */
export interface SseMessage {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string | undefined;
}

const MESSAGE_END = /\r?\n\r?\n/;

/** Reads the messages of an event stream, as they come. Leaving the loop, or the signal, closes the connection. */
export async function* readSse(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<SseMessage> {
  const reader = body.getReader();
  // Not every fetch ends a body that is being read when its request is aborted.
  const stop = (): void => {
    reader.cancel().catch(() => {});
  };
  signal?.addEventListener("abort", stop);
  if (signal?.aborted === true) stop();
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let tail = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const piece = decoder.decode(value, { stream: true });
      pieces.push(piece);
      const seen = tail + piece;
      tail = seen.slice(-3);
      if (!MESSAGE_END.test(seen)) continue;
      const blocks = pieces.join("").split(MESSAGE_END);
      pieces = [blocks.pop() ?? ""];
      for (const block of blocks) yield toMessage(block);
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    await reader.cancel().catch(() => {});
  }
}

function toMessage(block: string): SseMessage {
  let id: string | undefined;
  let event = "message";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ""] = /^([^:]+):? ?(.*)$/s.exec(line) ?? [];
    if (name === "id") id = value;
    if (name === "event") event = value;
    if (name === "data") data.push(value);
  }
  return { id, event, data: data.length === 0 ? undefined : data.join("\n") };
}
