import { ManualClock } from "../../src/engine/index.ts";

/** A clock that knows how many loops rest: a loop sleeps in the background when it has done what was to be done. */
export class RestingClock extends ManualClock {
  #resting = 0;
  #waiting: { readonly loops: number; readonly resolve: () => void }[] = [];

  override async sleepInBackground(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0 || signal?.aborted === true) return;
    this.#resting += 1;
    this.#waiting = this.#waiting.filter(({ loops, resolve }) => {
      const isSo = this.#resting >= loops;
      if (isSo) resolve();
      return !isSo;
    });
    try {
      await super.sleepInBackground(ms, signal);
    } finally {
      this.#resting -= 1;
    }
  }

  /** Resolves once so many loops rest. */
  rested(loops: number): Promise<void> {
    if (this.#resting >= loops) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ loops, resolve }));
  }
}
