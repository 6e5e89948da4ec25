import { TransientMap } from "../../engine/index.ts";

interface Watched {
  readonly controller: AbortController;
  watchers: number;
}

/** Tells the steps of an invocation to stop. Only a hint: the state is in the ledger. */
export class Cancellation {
  readonly #watched = new TransientMap<string, Watched>();

  /** Watches an invocation until the returned function is called. */
  open(invocation: string): () => void {
    const watched = this.#watched.get(invocation) ?? { controller: new AbortController(), watchers: 0 };
    watched.watchers += 1;
    this.#watched.set(invocation, watched);
    return () => {
      watched.watchers -= 1;
      if (watched.watchers === 0) this.#watched.delete(invocation);
    };
  }

  /** Undefined where nobody could stop it. */
  signalOf(invocation: string): AbortSignal | undefined {
    return this.#watched.get(invocation)?.controller.signal;
  }

  cancel(invocation: string, reason: string): void {
    this.#watched.get(invocation)?.controller.abort(reason);
  }
}
