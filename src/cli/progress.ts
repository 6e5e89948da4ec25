const CLEAR = "\r\u001B[K";
const SHOW_EVERY_MS = 100;

/** Shows the progress of long work, only in a terminal. */
export class Progress {
  readonly #shown = process.stderr.isTTY;
  #nextAt = 0;
  #written = false;

  /** Written at once when due, because work that never awaits would block a timer. */
  show(text: string): void {
    const now = performance.now();
    if (!this.#shown || now < this.#nextAt) return;
    this.#nextAt = now + SHOW_EVERY_MS;
    this.#written = true;
    process.stderr.write(`${CLEAR}${text}`);
  }

  /** Removes the line. */
  end(): void {
    if (this.#written) process.stderr.write(CLEAR);
  }
}
