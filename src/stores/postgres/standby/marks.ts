import type { Database } from "../connection/index.ts";

/** Marks are kept for so long: nothing older is read from a standby. */
export const LONGEST_AGE_MS = 30_000;

/**
 * What the primary said at one moment. A standby that has replayed `replayed` bytes of the write-ahead log, or more, has
 * everything that was committed before the mark was asked for.
 */
export interface Mark {
  /** When it was asked for, by this process's clock that is never set. */
  readonly askedAt: number;
  /** The same by the ledger's clock, or a moment later. */
  readonly now: number;
  /** Where the log ends: up to here nothing is on its way any more. */
  readonly logEnd: number;
  /** The server and its time line. */
  readonly history: string;
  /** The ledger says of itself that it was there. */
  readonly isNoted: boolean;
  readonly replayed: number;
}

// The place in the write-ahead log is looked at last: what is in the rest comes before it.
const MARK = `
  select m.now, m.log_end, m.history, exists (select 1 from countersign.histories h where h.id = m.history),
    (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint
  from (select countersign.now_ms() as now, countersign.log_end() as log_end, countersign.history() as history offset 0) m`;

/** The marks of the last moments. One at a time is asked for, by everybody who needs one. */
export class Marks {
  readonly #primary: Database;
  #kept: readonly Mark[] = [];
  #running: Promise<Mark> | undefined;
  #next: Promise<Mark> | undefined;

  constructor(primary: Database) {
    this.#primary = primary;
  }

  /** The newest one, which was asked for at this time or later. */
  async since(time: number): Promise<Mark> {
    const newest = this.#kept.at(-1);
    return newest !== undefined && newest.askedAt >= time ? newest : this.#ask();
  }

  /** The newest that a standby has which replayed so much. */
  reachedBy(replayed: number): Mark | undefined {
    return this.#kept.findLast((mark) => mark.replayed <= replayed);
  }

  /** One that is asked for from now on: the one under way may lack what was committed meanwhile. */
  #ask(): Promise<Mark> {
    if (this.#running === undefined) return this.#run();
    this.#next ??= this.#running.catch(() => {}).then(() => this.#run());
    return this.#next;
  }

  #run(): Promise<Mark> {
    this.#next = undefined;
    this.#running = this.#read().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #read(): Promise<Mark> {
    const askedAt = performance.now();
    const row = (await this.#primary.get(MARK, [], { patient: false, shared: true })) ?? [];
    const [now, logEnd, history, isNoted, replayed] = row as readonly [
      number,
      number,
      string,
      boolean,
      number,
    ];
    const mark: Mark = { askedAt, now, logEnd, history, isNoted, replayed };
    // On another time line the same place means something else.
    this.#kept = [
      ...this.#kept.filter((each) => each.history === history && each.askedAt >= askedAt - LONGEST_AGE_MS),
      mark,
    ];
    return mark;
  }
}
