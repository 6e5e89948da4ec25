/** Tells the steps of an invocation that they should stop. Only a hint: what they hold is in the ledger. */
export class Cancellation {
  readonly #controllers = new Map<string, AbortController>();
  readonly #never = new AbortController().signal;

  /** Watches an invocation until the returned function is called. */
  open(invocation: string): () => void {
    if (!this.#controllers.has(invocation)) this.#controllers.set(invocation, new AbortController());
    return () => this.#controllers.delete(invocation);
  }

  signalOf(invocation: string): AbortSignal {
    return this.#controllers.get(invocation)?.signal ?? this.#never;
  }

  cancel(invocation: string, reason: string): void {
    this.#controllers.get(invocation)?.abort(reason);
  }
}
