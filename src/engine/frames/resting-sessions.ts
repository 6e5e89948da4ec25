import type { Clock } from "../common/index.ts";
import type { SessionCache } from "./session-cache.ts";

/** How many sessions that wait keep their events in this process. */
const MOST_RESTING = 256;
/** For so long. Another process may erase the session, and nobody tells this one. */
const RESTING_MS = 5 * 60_000;

interface Resting {
  readonly cache: SessionCache;
  readonly since: number;
}

/** Sessions in which nothing runs here any more: their next step need not read their events. */
export class RestingSessions {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #sessions = new Map<string, Resting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(session: string, cache: SessionCache): void {
    this.#sessions.delete(session);
    this.#sessions.set(session, { cache, since: this.#clock.monotonic() });
    this.forgetOld();
  }

  /** Its events are kept elsewhere from now on, or nowhere. */
  take(session: string): SessionCache | undefined {
    this.forgetOld();
    const resting = this.#sessions.get(session);
    this.#sessions.delete(session);
    return resting?.cache;
  }

  forgetOld(): void {
    const oldest = this.#clock.monotonic() - RESTING_MS;
    for (const [session, { since }] of this.#sessions) {
      if (since > oldest && this.size <= MOST_RESTING) return;
      this.#sessions.delete(session);
    }
  }
}
