import { createInterface, type Interface } from "node:readline";

/** The result of waiting for a line. */
export type Line =
  | { readonly kind: "line"; readonly text: string }
  /** There is no more input. */
  | { readonly kind: "end" }
  /** Somebody pressed Ctrl-C. */
  | { readonly kind: "interrupted" }
  /** The question was closed meanwhile. */
  | { readonly kind: "withdrawn" };

/** Lines of a person or of a pipe, one at a time. None is lost between two questions. */
export class Lines {
  readonly isTerminal: boolean;
  readonly #interface: Interface;
  readonly #unread: string[] = [];
  #onInterrupt: () => void = () => {};
  #waiting: ((line: Line) => void) | undefined;
  #ended = false;

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream) {
    this.isTerminal = input.isTTY && output.isTTY;
    this.#interface = createInterface({
      input,
      ...(this.isTerminal ? { output } : {}),
      terminal: this.isTerminal,
    });
    this.#interface.on("line", (text) => this.#onLine(text));
    this.#interface.on("close", () => this.#onEnd());
    // In a terminal we read the keys; elsewhere we get the signal.
    this.#interface.on("SIGINT", this.#interrupted);
    process.on("SIGINT", this.#interrupted);
  }

  /** Handles Ctrl-C while no line is awaited. */
  set onInterrupt(listener: () => void) {
    this.#onInterrupt = listener;
  }

  /** The next line. The prompt is shown only in a terminal. */
  next(prompt: string, signal?: AbortSignal): Promise<Line> {
    const text = this.#unread.shift();
    if (text !== undefined) return Promise.resolve({ kind: "line", text });
    if (this.#ended) return Promise.resolve({ kind: "end" });
    if (signal?.aborted === true) return Promise.resolve({ kind: "withdrawn" });
    return new Promise((resolve) => {
      const onAbort = (): void => this.#waiting?.({ kind: "withdrawn" });
      this.#waiting = (line) => {
        this.#waiting = undefined;
        signal?.removeEventListener("abort", onAbort);
        resolve(line);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      if (!this.isTerminal) return;
      this.#interface.setPrompt(prompt);
      this.#interface.prompt();
    });
  }

  /** Discards what a person typed before the question; a pipe sends its answers ahead of time. */
  dropTypedAhead(): void {
    if (this.isTerminal) this.#unread.length = 0;
  }

  /** Prints above the prompt at which a person may be typing. */
  above(print: () => void): void {
    if (!this.isTerminal || this.#waiting === undefined) return print();
    process.stdout.write("\r\u001B[K");
    print();
    this.#interface.prompt(true);
  }

  close(): void {
    process.off("SIGINT", this.#interrupted);
    this.#ended = true;
    this.#interface.close();
  }

  readonly #interrupted = (): void => {
    if (this.#waiting === undefined) return this.#onInterrupt();
    this.#leavePrompt();
    this.#waiting({ kind: "interrupted" });
  };

  #onLine(text: string): void {
    if (this.#waiting === undefined) this.#unread.push(text);
    else this.#waiting({ kind: "line", text });
  }

  #onEnd(): void {
    this.#ended = true;
    if (this.#waiting === undefined) return;
    this.#leavePrompt();
    this.#waiting({ kind: "end" });
  }

  #leavePrompt(): void {
    if (this.isTerminal) process.stdout.write("\n");
  }
}
