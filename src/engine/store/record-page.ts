import type { JournalRange } from "../journal/index.ts";
import type { JournalRecord } from "../ledger/index.ts";

/** Records up to a number of them and of bytes, and one at least. */
export class RecordPage {
  readonly #found: JournalRecord[] = [];
  readonly #limit: number;
  #bytes: number;
  #full = false;

  constructor({ limit, bytes = Number.POSITIVE_INFINITY }: Pick<JournalRange, "limit" | "bytes">) {
    this.#limit = limit;
    this.#bytes = bytes;
  }

  get records(): readonly JournalRecord[] {
    return this.#found;
  }

  /** Nothing that comes later has a place. */
  get isFull(): boolean {
    return this.#full || this.#found.length >= this.#limit;
  }

  add(record: JournalRecord): void {
    if (this.isFull) return;
    this.#bytes -= record.body === null ? 0 : Buffer.byteLength(JSON.stringify(record.body));
    if (this.#bytes < 0 && this.#found.length > 0) this.#full = true;
    else this.#found.push(record);
  }
}
