import type { StoredEvent } from "../../protocol/index.ts";
import type { Draft, SessionRecord } from "../ledger/index.ts";
import type { AskedCall } from "../questions/index.ts";

/** The state of a run that has stopped: it is over, or it waits for people. */
export interface Rest {
  readonly session: SessionRecord;
  /** All events of the session since then. */
  readonly events: readonly StoredEvent[];
  /** All questions of the session that are open. */
  readonly asked: readonly AskedCall[];
}

/**
 * The events of a session that this process committed without interruption. The next step, or a caller that waits, need
 * not read them again. If another process commits in between, our next commit notices it, and the cache starts again.
 */
export class SessionCache {
  /** As the last commit left it. Not the draft itself: what that holds would live as long as this. */
  #session: SessionRecord | undefined;
  #isErased = false;
  #events: StoredEvent[] = [];
  #firstSeq = 1;
  #rest: { readonly session: SessionRecord; readonly asked: readonly AskedCall[] } | undefined;

  add(draft: Draft): void {
    const { sessionAfter } = draft;
    const before = this.#session?.chain.hash;
    if (before === sessionAfter.chain.hash) return;
    if (before !== draft.hashBefore) {
      this.#events = [];
      this.#firstSeq = draft.firstSeq;
    }
    this.#session = sessionAfter;
    this.#isErased = draft.isErased;
    for (const event of draft.events) this.#events.push(event);
  }

  /** May it be kept while nothing runs? Not if its session was erased. */
  get mayRest(): boolean {
    return this.#session !== undefined && !this.#isErased;
  }

  /** The most that its events take in memory. */
  get bytes(): number {
    return this.#session?.bytes ?? 0;
  }

  /** With this draft the run stopped; exactly these questions are open in its session. */
  restsAt({ sessionAfter: session }: Draft, asked: readonly AskedCall[]): void {
    this.#rest = { session, asked };
  }

  /** The final state of the run, if everything after the event at `after` was committed here. */
  restAfter(after: number): Rest | undefined {
    const session = this.#session;
    if (session === undefined || session !== this.#rest?.session || this.#firstSeq > after + 1)
      return undefined;
    const events = this.#events.slice(after + 1 - this.#firstSeq);
    return { session, events, asked: this.#rest.asked };
  }

  /** All events of the session up to the last commit here; read once, then appended to. */
  async history(read: () => Promise<readonly StoredEvent[]>): Promise<readonly StoredEvent[]> {
    const last = this.#session;
    if (this.#firstSeq > 1 || last === undefined) {
      const events = await read();
      // Events after the last commit here come from another process; do not treat them as ours.
      const ours = last === this.#session && events.length === (last?.nextSeq ?? 0) - 1;
      if (!ours) return events;
      this.#events = [...events];
      this.#firstSeq = 1;
    }
    return this.#events.slice();
  }
}
