import {
  commitsBetween,
  type JournalPlace,
  type JournalRecord,
  type Ledger,
  recordsAfter,
} from "../engine/index.ts";
import type { Channel } from "./channel.ts";
import { isWanted, noticeTypeOf } from "./notices.ts";

// A record may have a megabyte of arguments.
const PAGE = 50;
// After this many records without news the position is stored anyway, so that the next process does not read them
// again.
const FAR = 10_000;

/** Queues a channel's notices from the journal in the outbox. Its memory only saves reads. */
export class JournalReader {
  readonly #ledger: Ledger;
  readonly #channel: Pick<Channel, "name" | "keepsCurrent">;
  /** As it was last known; wrong if another process has moved it since, which `enqueue` notices. */
  #place: number | undefined;
  /** The newest record that was read; between the stored position and it there was nothing to send. */
  #last: JournalPlace | undefined;

  constructor(ledger: Ledger, channel: Pick<Channel, "name" | "keepsCurrent">) {
    this.#ledger = ledger;
    this.#channel = channel;
  }

  /** Everything that was committed before this was called; of several processes one does it. */
  async enqueueNew(): Promise<void> {
    while (await this.#enqueuePage());
  }

  /** True: there may be more. */
  async #enqueuePage(): Promise<boolean> {
    this.#place ??= await this.#ledger.outbox.channelPlace(this.#channel.name);
    const from = this.#place;
    const records = await this.#readAfter(from);
    if (records === undefined) return this.#forget();
    const last = records.at(-1);
    if (last === undefined) return false;
    const seqs = records
      .filter((record) => isWanted(noticeTypeOf(record), this.#channel))
      .map(({ seq }) => seq);
    if (seqs.length > 0 || commitsBetween(from, last.seq) >= FAR) {
      const batch = { channel: this.#channel.name, from, to: last.seq, seqs };
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
