import { recordsOf, rowAt } from "../journal/index.ts";
import type { JournalRange, JournalRecord } from "../ledger/index.ts";
import { RecordPage } from "./record-page.ts";
import type { LogRange, Store } from "./store.ts";

const MOST_ROWS = 200;
const MOST_BYTES = 4_000_000;

/** Journal records in the order of commits. */
export async function readRecords(
  store: Store,
  range: JournalRange & { readonly until?: number },
): Promise<readonly JournalRecord[]> {
  const { after, until = Number.MAX_SAFE_INTEGER } = range;
  const found = new RecordPage(range);
  for (let row = lineBefore(after); ; ) {
    const rows = await store.log({ after: row, until: rowAt(until), ...pageOf(range) });
    for (const record of rows.flatMap(recordsOf))
      if (record.seq > after && record.seq <= until) found.add(record);
    const last = rows.at(-1);
    if (last === undefined || found.isFull) return found.records;
    row = last.seq;
  }
}

/** One session's records, in order. */
export async function readSessionRecords(
  store: Store,
  session: string,
  range: JournalRange,
): Promise<readonly JournalRecord[]> {
  const found = new RecordPage(range);
  for (let n = lineBefore(range.after); ; ) {
    const rows = await store.sessionLog(session, { after: n, ...pageOf(range) });
    for (const record of rows.flatMap(recordsOf)) if (record.n > range.after) found.add(record);
    const last = rows.at(-1);
    if (last === undefined || found.isFull) return found.records;
    n = last.n;
  }
}

/** The newest record; undefined where there is none. */
export async function readLastRecord(store: Store): Promise<JournalRecord | undefined> {
  for (let until = Number.MAX_SAFE_INTEGER, limit = 1; ; limit = MOST_ROWS) {
    const rows = await store.log({ after: 0, until, limit, last: true });
    const told = rows.findLast(({ kinds }) => kinds.length > 0);
    if (told !== undefined) return recordsOf(told).at(-1);
    const [first] = rows;
    if (first === undefined || first.seq <= 1) return undefined;
    until = first.seq - 1;
  }
}

function lineBefore(position: number): number {
  return Math.max(0, rowAt(position) - 1);
}

function pageOf({ limit, bytes = MOST_BYTES }: JournalRange): Omit<LogRange, "after"> {
  return { limit: Math.min(limit + 1, MOST_ROWS), bytes };
}
