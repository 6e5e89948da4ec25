/**
 * The database's clock as its last answer told it, carried forward by this machine's. How far that one is off does not
 * matter, only how far it has moved since; a machine that slept has moved too.
 */
export class LedgerTime {
  #ahead = 0;

  constructor(now: number) {
    this.observe(now);
  }

  get now(): number {
    return Date.now() + this.#ahead;
  }

  /** What an answer told, if it told the time. */
  observe(now: number | undefined): void {
    if (now !== undefined) this.#ahead = now - Date.now();
  }
}
