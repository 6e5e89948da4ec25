import { type Clock, TransientMap } from "../common/index.ts";
import type { SessionCache } from "./session-cache.ts";

/** How many sessions that wait keep their events in this process. */
const MOST_RESTING = 256;
/** How long they are kept. Another process may erase the session, and nobody tells this one. */
const RESTING_MS = 5 * 60_000;
/** How much their events may take together. One long session may take it all: each of its messages needs all its events. */
const MOST_BYTES = 16_000_000;

interface Resting {
  readonly cache: SessionCache;
  readonly bytes: number;
  readonly since: number;
}

/** Sessions in which nothing runs here any more: their next step need not read their events. */
export class RestingSessions {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #sessions = new TransientMap<string, Resting>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#sessions.size;
  }

  add(session: string, cache: SessionCache): void {
    this.#drop(session);
    const { bytes } = cache;
    this.#sessions.set(session, { cache, bytes, since: this.#clock.monotonic() });
    this.#bytes += bytes;
    this.forgetOld();
  }

  /** Its events are kept elsewhere from now on, or nowhere. */
  take(session: string): SessionCache | undefined {
    this.forgetOld();
    return this.#drop(session)?.cache;
  }

  forgetOld(): void {
    const oldest = this.#clock.monotonic() - RESTING_MS;
    for (const [session, { since }] of this.#sessions.entries()) {
      if (since > oldest && this.size <= MOST_RESTING && this.#bytes <= MOST_BYTES) return;
      this.#drop(session);
    }
  }

  #drop(session: string): Resting | undefined {
    const resting = this.#sessions.get(session);
    this.#bytes -= resting?.bytes ?? 0;
    this.#sessions.delete(session);
    return resting;
  }
}
