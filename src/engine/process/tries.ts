import { type Clock, sessionOf } from "../common/index.ts";

/** What slow work may delay. It goes on, but nobody waits for it. */
const PATIENCE_MS = 1_000;
const MOST_LEFT = 10_000;

/**
 * Work that is tried now, and work that was left because it cannot be done here at present. Only in memory, and only about
 * when to try again: what is left is still due in the ledger.
 */
export class Tries {
  readonly #clock: Clock;
  readonly #pauseMs: number;
  readonly #running = new Map<string, Promise<void>>();
  /** When it was tried, oldest first. */
  readonly #left = new Map<string, number>();

  constructor(clock: Clock, pauseMs: number) {
    this.#clock = clock;
    this.#pauseMs = pauseMs;
  }

  /**
   * Tries these, but for what is being tried or was left a moment ago: one after the other in a session, sessions side by
   * side. `work` tells whether it left it, and must not reject. Waits for them, but not for long.
   */
  async each(ids: readonly string[], work: (id: string) => Promise<boolean>): Promise<void> {
    const sessions = new Map<string, Promise<void>>();
    for (const id of ids) {
      if (!this.#isFree(id)) continue;
      const before = sessions.get(sessionOf(id));
      sessions.set(sessionOf(id), this.#try(id, work, before));
    }
    if (sessions.size === 0) return;
    const done = new AbortController();
    const all = Promise.all(sessions.values()).finally(() => done.abort());
    await Promise.race([all, this.#clock.sleep(PATIENCE_MS, done.signal)]);
  }

  /** Resolves when nothing is tried any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  #try(
    id: string,
    work: (id: string) => Promise<boolean>,
    before: Promise<void> = Promise.resolve(),
  ): Promise<void> {
    this.#left.delete(id);
    const tried = before
      .then(() => work(id))
      .then((isLeft) => {
        this.#running.delete(id);
        if (isLeft) this.#leave(id);
      });
    this.#running.set(id, tried);
    return tried;
  }

  #isFree(id: string): boolean {
    if (this.#running.has(id)) return false;
    const leftAt = this.#left.get(id);
    return leftAt === undefined || this.#clock.monotonic() - leftAt >= this.#pauseMs;
  }

  #leave(id: string): void {
    this.#left.set(id, this.#clock.monotonic());
    const [oldest = id] = this.#left.keys();
    if (this.#left.size > MOST_LEFT) this.#left.delete(oldest);
  }
}
