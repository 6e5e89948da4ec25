/** Those who want to know that something was committed. */
export class Listeners {
  readonly #listeners = new Set<() => void>();
  #announced = false;

  listen(listener: () => void): () => void {
    // Wrapped, so that the same function can listen twice and stop once.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Many commits in one turn of the event loop are one announcement. */
  announce(): void {
    if (this.#announced || this.#listeners.size === 0) return;
    this.#announced = true;
    setImmediate(() => {
      this.#announced = false;
      for (const listener of this.#listeners) tell(listener);
    });
  }

  /** Wakes all listeners, which then find the ledger closed. */
  close(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) tell(listener);
  }
}

// One listener's fault is neither the others' nor the committer's.
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
