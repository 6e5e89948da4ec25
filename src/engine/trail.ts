import type { StoredEvent } from "../protocol/index.ts";
import type { AskedCall } from "./ask.ts";
import type { Draft } from "./draft.ts";
import type { SessionRecord } from "./records.ts";

/** Where a run has come to rest: over, or with questions that only people can answer. */
export interface Rest {
  readonly session: SessionRecord;
  /** Everything that the session was told since. */
  readonly events: readonly StoredEvent[];
  /** All questions of the session that are open. */
  readonly asked: readonly AskedCall[];
}

// A run that goes on for longer is read from the ledger in the end.
const MOST_COMMITS = 1_000;

/**
 * What this process has committed of a session while it was at work there. Whoever waited for the work need not
 * read what it left behind, unless somebody else has been at the session as well.
 */
export class Trail {
  readonly #drafts: Draft[] = [];
  #rest: { readonly draft: Draft; readonly asked: readonly AskedCall[] } | undefined;

  add(draft: Draft): void {
    const before = this.#drafts.at(-1);
    if (before === draft) return;
    const follows = before?.sessionAfter.version === draft.versionBefore;
    if (!follows || this.#drafts.length >= MOST_COMMITS) this.#drafts.length = 0;
    this.#drafts.push(draft);
  }

  /** With this draft the run came to rest, with these questions and no others open in its session. */
  restsAt(draft: Draft, asked: readonly AskedCall[]): void {
    this.#rest = { draft, asked };
  }

  /** The rest that the run came to, if everything after the event at `after` was committed here. */
  since(after: number): Rest | undefined {
    const last = this.#drafts.at(-1);
    const [first] = this.#drafts;
    if (last === undefined || last !== this.#rest?.draft || first === undefined || first.firstSeq > after + 1)
      return undefined;
    const events = this.#drafts.flatMap((draft) => draft.events).slice(after + 1 - first.firstSeq);
    return { session: last.sessionAfter, events: copyOf(events), asked: copyOf(this.#rest.asked) };
  }
}

// As it would be read: nothing but JSON, and nobody else's to change.
function copyOf<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
