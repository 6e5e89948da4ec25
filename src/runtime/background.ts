/** What runs beside the steps: providers being asked, runs being stopped. In memory only. */
export class Background {
  readonly #work = new Map<string, Set<Promise<void>>>();

  /** Runs beside everything else. What fails here changed nothing in the ledger, where a person will see it. */
  add(session: string, work: Promise<void>): void {
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
