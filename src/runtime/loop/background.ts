import { TransientMap } from "../../engine/index.ts";

// No session's key.
const ASIDE = "";

/** Background work: asking providers, stopping runs. In memory only. */
export class Background {
  readonly #work = new TransientMap<string, Set<Promise<void>>>();
  #stirs = 0;

  /** Changes whenever something starts or ends: if it has not changed, nothing happened here meanwhile. */
  get stirs(): number {
    return this.#stirs;
  }

  /** Runs in the background. A failure here changes nothing in the ledger, where a person sees the question. */
  add(session: string, work: Promise<void>): void {
    const stir = (): void => {
      this.#stirs += 1;
    };
    stir();
    this.#track(session, work.finally(stir));
  }

  /** The same for work outside of runs: only `close` waits for it. */
  addAside(work: Promise<void>): void {
    this.#track(ASIDE, work);
  }

  #track(session: string, work: Promise<void>): void {
    const all = this.#work.get(session) ?? new Set();
    const tracked = work
      .catch(() => {})
      .finally(() => {
        all.delete(tracked);
        if (all.size === 0) this.#work.delete(session);
      });
    this.#work.set(session, all.add(tracked));
  }

  /** Resolves when something of the session that runs now has ended; undefined when nothing runs. */
  of(session: string): Promise<void> | undefined {
    const all = this.#work.get(session);
    return all === undefined ? undefined : Promise.race(all);
  }

  /** Resolves when nothing runs any more. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(Array.from(this.#work.values(), (all) => Promise.all(all)));
  }
}
