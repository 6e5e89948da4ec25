import {
  type Journal,
  type JournalRange,
  type NewestRange,
  recordsOf,
  rowAt,
  type SealedUpon,
} from "../journal/index.ts";
import type { CheckpointRecord, JournalRecord, LogRow, Remains } from "../ledger/index.ts";
import { remainsOf } from "./erasing/remains.ts";
import type { LogRange, Store } from "./store.ts";

const MOST_ROWS = 200;
const MOST_BYTES = 4_000_000;

/** What happened, as a store keeps it. */
export class StoredJournal implements Journal {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get gapless(): boolean {
    return this.#store.gapless;
  }

  rows(range: JournalRange & NewestRange): Promise<readonly LogRow[]> {
    return this.#store.log(range);
  }

  sessionRows(session: string, range: JournalRange): Promise<readonly LogRow[]> {
    return this.#store.log({ session, ...range });
  }

  async records(range: JournalRange & { readonly until?: number }): Promise<readonly JournalRecord[]> {
    const { after, until = Number.MAX_SAFE_INTEGER } = range;
    const found = new RecordPage(range);
    for (let row = lineBefore(after); ; ) {
      const rows = await this.#store.log({ after: row, until: rowAt(until), ...pageOf(range) });
      for (const record of rows.flatMap(recordsOf))
        if (record.seq > after && record.seq <= until) found.add(record);
      const last = rows.at(-1);
      if (last === undefined || found.isFull) return found.records;
      row = last.seq;
    }
  }

  async recordsAt(seqs: readonly number[]): Promise<readonly JournalRecord[]> {
    const wanted = new Set(seqs);
    const at = [...new Set(seqs.map(rowAt))].toSorted((one, other) => one - other);
    const rows = await this.#store.log({ at });
    return rows.flatMap(recordsOf).filter(({ seq }) => wanted.has(seq));
  }

  async sessionRecords(session: string, range: JournalRange): Promise<readonly JournalRecord[]> {
    const found = new RecordPage(range);
    for (let n = lineBefore(range.after); ; ) {
      const rows = await this.#store.log({ session, after: n, ...pageOf(range) });
      for (const record of rows.flatMap(recordsOf)) if (record.n > range.after) found.add(record);
      const last = rows.at(-1);
      if (last === undefined || found.isFull) return found.records;
      n = last.n;
    }
  }

  async lastRecord(): Promise<JournalRecord | undefined> {
    for (let until = Number.MAX_SAFE_INTEGER, limit = 1; ; limit = MOST_ROWS) {
      const rows = await this.#store.log({ after: 0, until, limit, bytes: MOST_BYTES, last: true });
      const told = rows.findLast(({ kinds }) => kinds.length > 0);
      if (told !== undefined) return recordsOf(told).at(-1);
      const [first] = rows;
      if (first === undefined || first.seq <= 1) return undefined;
      until = first.seq - 1;
    }
  }

  async streams(...[after, limit]: Parameters<Journal["streams"]>): ReturnType<Journal["streams"]> {
    const found = await this.#store.documents({ afterKey: after, limit });
    return found.map(({ key, document: { head } }) => ({
      key,
      chain: head.chain,
      ...(head.pruned === undefined ? {} : { pruned: true }),
    }));
  }

  checkpoints(after: number, limit: number): Promise<readonly CheckpointRecord[]> {
    return this.#store.checkpoints({ after, limit });
  }

  async lastCheckpoint(): Promise<CheckpointRecord | undefined> {
    return (await this.#store.checkpoints("last"))[0];
  }

  seal(checkpoint: CheckpointRecord, upon?: SealedUpon): Promise<boolean> {
    return this.#store.seal(checkpoint, upon);
  }

  remains(session: string): Promise<Remains> {
    return remainsOf(this.#store, session);
  }

  dropLines(sessions: readonly string[]): Promise<void> {
    return this.#store.dropLines(sessions);
  }
}

function lineBefore(position: number): number {
  return Math.max(0, rowAt(position) - 1);
}

function pageOf({ limit, bytes = MOST_BYTES }: JournalRange): Omit<LogRange, "after"> {
  return { limit: Math.min(limit + 1, MOST_ROWS), bytes };
}

/** Records up to a number of them and of bytes, and one at least. */
class RecordPage {
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
