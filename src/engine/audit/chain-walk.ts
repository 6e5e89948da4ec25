import {
  CHAIN_START,
  type ChainHasher,
  eventsOf,
  parseEntry,
  recordsOf,
  rowHash,
  sealedBefore,
} from "../journal/index.ts";
import type { ChainHead, LogRow } from "../ledger/index.ts";
import type { Report } from "./verify.ts";

const MOST_MISSING = 100;

/** What the lines of one session are checked with. */
export interface ChainCheck {
  readonly hasher: ChainHasher;
  /** The digest that a body must have. */
  readonly digestOf: (body: string) => string;
}

type Previous = Pick<LogRow, "n" | "hash" | "seq" | "events">;

/**
 * Goes along the lines of one session's log, wherever they come from: each follows from the one before it, and has its body
 * unless a later one says that it was erased.
 */
export class ChainWalk {
  readonly #check: ChainCheck;
  readonly #session: string;
  readonly #report: Report;
  readonly #bodies = new Bodies();
  #last: Previous = { n: 0, hash: CHAIN_START, seq: 0, events: 0 };
  #records = 0;

  constructor(check: ChainCheck, session: string, report: Report) {
    this.#check = check;
    this.#session = session;
    this.#report = report;
  }

  /** The last line that went by. */
  get end(): ChainHead {
    return { n: this.#last.n, hash: this.#last.hash };
  }

  get records(): number {
    return this.#records;
  }

  /** How many records have no body any more, as a later record of the chain says. */
  get erased(): number {
    return this.#bodies.erased;
  }

  take(row: LogRow): void {
    this.#bodies.take(row, this.#isSound(row));
    this.#last = row;
    this.#records += row.kinds.length;
  }

  /** Reports the bodies that are missing and that nothing accounts for. */
  finish(): void {
    for (const n of this.#bodies.unaccounted()) {
      const what = "its body is missing, and no later record says that the session was erased";
      this.#report(`session ${this.#session}, commit ${n}`, what);
    }
  }

  /** Is it as it was written? What is not is reported. */
  #isSound(row: LogRow): boolean {
    const { hasher, digestOf } = this.#check;
    const previous = this.#last;
    const where = `session ${this.#session}, commit ${row.n}`;
    if (row.n !== previous.n + 1) this.#report(where, `commit ${previous.n + 1} is missing`);
    if (row.seq <= previous.seq) this.#report(where, "it is stored before the commit that it follows");
    const sealed = sealedBefore(row.hash);
    const fits = sealed !== undefined && rowHash(hasher, previous.hash, row, sealed) === row.hash;
    if (!fits) this.#report(where, "its hash does not match the commit before it");
    const isWhole = row.body === null || digestOf(row.body) === row.digest;
    if (!isWhole) this.#report(where, "its body was changed");
    // The count is not hashed, and events are found by it.
    if (row.body !== null && row.events !== previous.events + eventsOf(row).length)
      this.#report(where, "its count of events was changed");
    return fits && isWhole;
  }
}

/** Which lines of a chain have no body, and which of those were erased. Holds no more than some of the last. */
class Bodies {
  #missing = 0;
  #erasedTo = 0;
  readonly #last: { readonly n: number; readonly records: number }[] = [];

  take(row: LogRow, isSound: boolean): void {
    if (row.body === null) {
      this.#missing += row.kinds.length;
      this.#last.push({ n: row.n, records: row.kinds.length });
      // What was erased comes first; so if any are not accounted for, the last are.
      if (this.#last.length > MOST_MISSING) this.#last.shift();
    } else if (isSound) {
      this.#erasedTo = Math.max(this.#erasedTo, erasedTo(row));
    }
  }

  unaccounted(): readonly number[] {
    return this.#unaccounted().map(({ n }) => n);
  }

  get erased(): number {
    return this.#unaccounted().reduce((left, { records }) => left - records, this.#missing);
  }

  #unaccounted(): readonly { readonly n: number; readonly records: number }[] {
    return this.#last.filter(({ n }) => n > this.#erasedTo);
  }
}

/** Up to which line of its session the content was erased, by what this one says; 0 for any other line. */
function erasedTo(row: LogRow): number {
  return Math.max(
    0,
    ...recordsOf(row).map((record) => {
      const entry = parseEntry(record);
      // What cannot be read accounts for nothing: bodies that are missing before it are reported.
      if (entry.state !== "readable") return 0;
      if (entry.kind !== "session-deleted" && entry.kind !== "session-pruned") return 0;
      const { erased } = entry.body;
      return erased < row.n ? erased : 0;
    }),
  );
}
