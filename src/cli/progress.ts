const CLEAR = "\r\u001B[K";
const SHOW_EVERY_MS = 100;

/** Tells a person at a terminal how far long work is; nobody else is told anything. */
export class Progress {
  readonly #shown = process.stderr.isTTY;
  #nextAt = 0;
  #written = false;

  /** Written at once where a line is due: work that never waits would keep a timer from it. */
  show(text: string): void {
    const now = performance.now();
    if (!this.#shown || now < this.#nextAt) return;
    this.#nextAt = now + SHOW_EVERY_MS;
    this.#written = true;
    process.stderr.write(`${CLEAR}${text}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#written) process.stderr.write(CLEAR);
  }
}
