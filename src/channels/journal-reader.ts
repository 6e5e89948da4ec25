import type { Ledger } from "../engine/index.ts";
import { noticeTypeOf } from "./notices.ts";

const PAGE = 500;
// So many records without news, and the place is moved all the same, lest the next process read them again.
const FAR = 10_000;

/** Puts what a channel has to tell of the journal into the outbox. */
export class JournalReader {
  readonly #ledger: Ledger;
  readonly #channel: string;
  /** Up to here there was nothing to tell after the place that the ledger remembers. Saves reading, no more. */
  #seen = 0;

  constructor(ledger: Ledger, channel: string) {
    this.#ledger = ledger;
    this.#channel = channel;
  }

  /** Everything that was committed before this was called; of several processes one does it. */
  async enqueueNew(): Promise<void> {
    for (;;) {
      const from = await this.#ledger.channelPlace(this.#channel);
      this.#seen = Math.max(this.#seen, from);
      const records = await this.#ledger.journal({ after: this.#seen, limit: PAGE });
      const to = records.at(-1)?.seq;
      if (to === undefined) return;
      const seqs = records.filter((record) => noticeTypeOf(record) !== undefined).map(({ seq }) => seq);
      if (seqs.length > 0 || to - from >= FAR) {
        // Refused: another process went ahead, and the next turn begins where it left off.
        await this.#ledger.enqueue({ channel: this.#channel, from, to, seqs });
      } else {
        this.#seen = to;
        if (records.length < PAGE) return;
      }
    }
  }
}
