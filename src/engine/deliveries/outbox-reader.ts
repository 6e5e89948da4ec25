import { commitsBetween, type JournalPlace, recordsAfter } from "../journal/index.ts";
import type { JournalRecord, Ledger } from "../ledger/index.ts";

// A record may have a megabyte of arguments.
const PAGE: PageSize = { limit: 50 };
// Where there are more than a page. One that is cut short by its bytes is not the last: only an empty one is.
const NEXT_PAGE: PageSize = { limit: 200, bytes: 4_000_000 };
// After this many records without news the position is stored anyway, so that the next process does not read them
// again.
const FAR = 10_000;

/** A queue in the outbox, and which records of the journal enter it. */
export interface Queue {
  /** Identifies it in the ledger; a new name starts at the journal's end. */
  readonly name: string;
  readonly wants: (record: JournalRecord) => boolean | Promise<boolean>;
}

interface PageSize {
  readonly limit: number;
  readonly bytes?: number;
}

/** `refused`: another process has moved the place, so nothing was written. */
type Next = "more" | "done" | "refused";

/** Fills a queue of the outbox from the journal. Its memory only saves reads. */
export class OutboxReader {
  readonly #ledger: Ledger;
  readonly #queue: Queue;
  /** As it was last known; wrong if another process has moved it since, which `enqueue` notices. */
  #place: number | undefined;
  /** The newest record that was read; between the stored position and it there was nothing to send. */
  #last: JournalPlace | undefined;

  constructor(ledger: Ledger, queue: Queue) {
    this.#ledger = ledger;
    this.#queue = queue;
  }

  /**
   * Everything that was committed before this was called; of several processes one does it. False: another process is
   * at it just now, and may or may not go on.
   */
  async enqueueNew(): Promise<boolean> {
    let next: Next = "more";
    // What is known from earlier may be behind. What was read now and is refused is somebody's who enqueues now.
    for (let page = PAGE; next !== "done"; page = NEXT_PAGE) {
      const isFresh = this.#place === undefined;
      next = await this.#enqueuePage(page);
      if (next === "refused" && isFresh) return false;
    }
    return true;
  }

  async #enqueuePage(page: PageSize): Promise<Next> {
    this.#place ??= await this.#ledger.outbox.channelPlace(this.#queue.name);
    const from = this.#place;
    const records = await this.#readAfter(from, page);
    if (records === undefined) {
      this.#forget();
      return "more";
    }
    const last = records.at(-1);
    if (last === undefined) return "done";
    const seqs: number[] = [];
    for (const record of records) {
      const wanted = this.#queue.wants(record);
      if (wanted instanceof Promise ? await wanted : wanted) seqs.push(record.seq);
    }
    if (seqs.length > 0 || commitsBetween(from, last.seq) >= FAR) {
      const batch = { channel: this.#queue.name, from, to: last.seq, hash: last.hash, seqs };
      if (!(await this.#ledger.outbox.enqueue(batch))) {
        this.#forget();
        return "refused";
      }
      this.#place = last.seq;
    }
    this.#last = last;
    return page.bytes !== undefined || records.length >= page.limit ? "more" : "done";
  }

  /** The new records; undefined if the last record is not the one that was read. */
  async #readAfter(place: number, page: PageSize): Promise<readonly JournalRecord[] | undefined> {
    const last = this.#last;
    const from = last === undefined || last.seq < place ? { seq: place } : last;
    return recordsAfter(this.#ledger, from, page);
  }

  #forget(): void {
    this.#place = undefined;
    this.#last = undefined;
  }
}
