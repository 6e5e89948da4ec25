import type { StoredEvent } from "../../protocol/index.ts";
import type { Draft, SessionRecord } from "../ledger/index.ts";
import type { AskedCall } from "../questions/index.ts";

/** Where a run has come to rest: over, or with questions that only people can answer. */
export interface Rest {
  readonly session: SessionRecord;
  /** Everything that the session was told since. */
  readonly events: readonly StoredEvent[];
  /** All questions of the session that are open. */
  readonly asked: readonly AskedCall[];
}

/**
 * What a session was told, as far as this process has committed it without a break while it was at work there.
 * Whoever goes on with the work, or waited for it, need not read that again. Somebody else's commit in between is
 * noticed at our own next one, and then the cache begins anew.
 */
export class SessionCache {
  #last: Draft | undefined;
  #events: (StoredEvent | string)[] = [];
  #firstSeq = 1;
  #rest: { readonly draft: Draft; readonly asked: readonly AskedCall[] } | undefined;

  add(draft: Draft): void {
    if (this.#last === draft) return;
    if (this.#last?.sessionAfter.version !== draft.versionBefore) {
      this.#events = [];
      this.#firstSeq = draft.firstSeq;
    }
    this.#last = draft;
    for (const text of draft.eventTexts) this.#events.push(text);
  }

  /** With this draft the run came to rest, with these questions and no others open in its session. */
  restsAt(draft: Draft, asked: readonly AskedCall[]): void {
    this.#rest = { draft, asked };
  }

  /** The rest that the run came to, if everything after the event at `after` was committed here. */
  restAfter(after: number): Rest | undefined {
    const last = this.#last;
    if (last === undefined || last !== this.#rest?.draft || this.#firstSeq > after + 1) return undefined;
    const events = this.#eventsFrom(after + 1 - this.#firstSeq);
    return { session: last.sessionAfter, events, asked: this.#rest.asked };
  }

  /** All that the session was told up to the last commit here; read once, and then only added to. */
  async history(read: () => Promise<readonly StoredEvent[]>): Promise<readonly StoredEvent[]> {
    const last = this.#last;
    if (this.#firstSeq > 1 || last === undefined) {
      const events = await read();
      // What came since the last commit here is somebody else's, and not to be counted as ours.
      const ours = last === this.#last && events.length === (last?.sessionAfter.nextSeq ?? 0) - 1;
      if (!ours) return events;
      this.#events = [...events];
      this.#firstSeq = 1;
    }
    return this.#eventsFrom(0);
  }

  /** Read from their texts, each once. */
  #eventsFrom(start: number): readonly StoredEvent[] {
    const events: StoredEvent[] = [];
    for (let place = start; place < this.#events.length; place += 1) {
      const known = this.#events[place] ?? "";
      const event = typeof known === "string" ? (JSON.parse(known) as StoredEvent) : known;
      this.#events[place] = event;
      events.push(event);
    }
    return events;
  }
}
