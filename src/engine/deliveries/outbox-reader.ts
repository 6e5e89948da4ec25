import { commitsBetween, type JournalPlace, recordsAfter } from "../journal/index.ts";
import type { JournalRecord, Ledger } from "../ledger/index.ts";

// A record may have a megabyte of arguments.
const PAGE = 50;
// After this many records without news the position is stored anyway, so that the next process does not read them
// again.
const FAR = 10_000;

/** A queue in the outbox, and which records of the journal enter it. */
export interface Queue {
  /** Identifies it in the ledger; a new name starts at the journal's end. */
  readonly name: string;
  readonly wants: (record: JournalRecord) => boolean | Promise<boolean>;
}

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

  /** Everything that was committed before this was called; of several processes one does it. */
  async enqueueNew(): Promise<void> {
    while (await this.#enqueuePage());
  }

  /** True: there may be more. */
  async #enqueuePage(): Promise<boolean> {
    this.#place ??= await this.#ledger.outbox.channelPlace(this.#queue.name);
    const from = this.#place;
    const records = await this.#readAfter(from);
    if (records === undefined) return this.#forget();
    const last = records.at(-1);
    if (last === undefined) return false;
    const seqs: number[] = [];
    for (const record of records) {
      const wanted = this.#queue.wants(record);
      if (wanted instanceof Promise ? await wanted : wanted) seqs.push(record.seq);
    }
    if (seqs.length > 0 || commitsBetween(from, last.seq) >= FAR) {
      const batch = { channel: this.#queue.name, from, to: last.seq, seqs };
      // Refused: another process was first; the next turn starts where it stopped.
      if (!(await this.#ledger.outbox.enqueue(batch))) return this.#forget();
      this.#place = last.seq;
    }
    this.#last = last;
    return records.length >= PAGE;
  }

  /** What is new; undefined where the last record is not the one that was read. */
  async #readAfter(place: number): Promise<readonly JournalRecord[] | undefined> {
    const last = this.#last;
    const from = last === undefined || last.seq < place ? { seq: place } : last;
    return recordsAfter(this.#ledger, from, { limit: PAGE });
  }

  #forget(): true {
    this.#place = undefined;
    this.#last = undefined;
    return true;
  }
}
