import type { JSONRPCMessage } from "@modelcontextprotocol/client";

const encoder = new TextEncoder();
// Proxies close silent connections.
const KEEP_ALIVE_MS = 15_000;

/** Messages to a client as server-sent events. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #onClosed: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(onClosed: () => void) {
    this.#onClosed = onClosed;
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
        this.#timer = setInterval(() => this.#write(": still here\n\n"), KEEP_ALIVE_MS);
      },
      // The reader is gone.
      cancel: () => this.#forget(),
    });
  }

  /** Throws if nobody reads any more. */
  send(message: JSONRPCMessage): void {
    if (!this.#write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)) {
      throw new Error("the client has disconnected");
    }
  }

  end(): void {
    this.#controller?.close();
    this.#forget();
  }

  #write(text: string): boolean {
    this.#controller?.enqueue(encoder.encode(text));
    return this.#controller !== undefined;
  }

  #forget(): void {
    clearInterval(this.#timer);
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#onClosed();
  }
}
