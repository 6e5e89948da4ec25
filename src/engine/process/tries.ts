import { type Clock, sessionOf } from "../common/index.ts";

/** What slow work may delay. It goes on, but nobody waits for it. */
const PATIENCE_MS = 1_000;
const MOST_LEFT = 10_000;
/** How many are tried at a time. The rest stays due. */
const MOST_TRIED = 200;
/** How long each may occupy its place: a server that never answers must not stop the work for all others. */
const ROOM_MS = 60_000;

/**
 * Work that is tried now, and work that was left because it cannot be done here at present. Only in memory, and only about
 * when to try again: what is left is still due in the ledger.
 */
export class Tries {
  readonly #clock: Clock;
  readonly #pauseMs: number;
  readonly #running = new Map<string, Promise<void>>();
  /** Those that take up room, and when they began, oldest first. */
  readonly #roomed = new Map<string, number>();
  /** When it was tried, oldest first. */
  readonly #left = new Map<string, number>();
  /** Aborted when one of them ends. */
  #room: AbortController | undefined;

  constructor(clock: Clock, pauseMs: number) {
    this.#clock = clock;
    this.#pauseMs = pauseMs;
  }

  /**
   * Tries these, except what is being tried or was left a moment ago: one after the other in a session, sessions side by
   * side. `work` tells whether it left it, and must not reject. Waits for them, but not for long. Returns how many of
   * these it has seen to; there was no room for the rest.
   */
  async each(ids: readonly string[], work: (id: string) => Promise<boolean>): Promise<number> {
    const sessions = new Map<string, Promise<void>>();
    let seen = 0;
    for (const id of ids) {
      const isFree = this.#isFree(id);
      if (isFree && !this.#hasRoom()) break;
      if (isFree) sessions.set(sessionOf(id), this.#try(id, work, sessions.get(sessionOf(id))));
      seen += 1;
    }
    if (sessions.size > 0) await this.#wait(sessions.values());
    else if (seen < ids.length) await this.#waitForRoom();
    return seen;
  }

  /** Resolves when nothing is tried any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #wait(tried: Iterable<Promise<void>>): Promise<void> {
    const done = new AbortController();
    const all = Promise.all(tried).finally(() => done.abort());
    await Promise.race([all, this.#clock.sleep(PATIENCE_MS, done.signal)]);
  }

  async #waitForRoom(): Promise<void> {
    this.#room ??= new AbortController();
    await this.#clock.sleep(PATIENCE_MS, this.#room.signal);
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
        this.#roomed.delete(id);
        if (isLeft) this.#leave(id);
        this.#room?.abort();
        this.#room = undefined;
      });
    this.#running.set(id, tried);
    this.#roomed.set(id, this.#clock.monotonic());
    return tried;
  }

  #hasRoom(): boolean {
    const slow = this.#clock.monotonic() - ROOM_MS;
    for (const [id, since] of this.#roomed) {
      if (since > slow) break;
      this.#roomed.delete(id);
    }
    return this.#roomed.size < MOST_TRIED;
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
