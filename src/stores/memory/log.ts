import { type Archive, eraseArchive, type LogRange, type LogRow, TransientMap } from "../../engine/index.ts";
import type { Cold, ColdRow } from "./cold.ts";
import { Hot } from "./hot.ts";

/** A row of the log with its archive as text. Nobody else can change it. */
interface Kept extends Omit<LogRow, "body"> {
  /** While it is hot. */
  readonly weight: number;
  body: string | null;
  archived: string | null;
}

const NAMED = "select max(batch) from log where batch <= ?";
const NEXT = "select min(batch) from log where batch > ?";
const BATCH = "select rows, texts, session from log where batch = ?";
const LAST_OF = "select max(last) from log where session = ?";
const PART_OF =
  "select rows, texts, session from log where session = ? and last > ? and first <= ? order by first";
const PUT = "insert into log (batch, session, first, last, rows, texts) values (?, ?, ?, ?, ?, ?)";
const ALL_OF = "select rows, texts, session, first from log where session = ?";
const DROP = "delete from log where session = ?";
const REPLACE = "update log set rows = ?, texts = ? where session = ? and first = ?";

const ROW_WEIGHT = 300;
/** Rows of a session that are kept, and read, together. */
const TOGETHER = 16;

/** The log: the newest rows are hot, all before them are cold. */
export class Log {
  readonly #cold: Cold;
  readonly #hot: Hot<number, Kept>;
  /** Those that are hot, by session. */
  readonly #ofSession = new TransientMap<string, Kept[]>();
  #last = 0;
  #firstHot = 1;
  #hasGaps = false;

  constructor(cold: Cold, most: number) {
    this.#cold = cold;
    this.#hot = new Hot(most, ({ weight }) => weight);
  }

  append(row: Omit<LogRow, "seq">, archived: Archive | undefined): void {
    const text = archived === undefined ? null : JSON.stringify(archived);
    this.#last += 1;
    const weight = ROW_WEIGHT + (row.body?.length ?? 0) + (text?.length ?? 0);
    const kept: Kept = { ...row, seq: this.#last, archived: text, weight };
    this.#hot.set(kept.seq, kept);
    const rows = this.#ofSession.get(row.session);
    if (rows === undefined) this.#ofSession.set(row.session, [kept]);
    else rows.push(kept);
  }

  hashAt(seq: number): string | undefined {
    return this.page({ after: seq - 1, until: seq, limit: 1 })[0]?.hash;
  }

  page(range: LogRange): readonly LogRow[] {
    const { limit, after, until = this.#last, last } = range;
    for (let width = limit; ; width *= 2) {
      const [start, stop] = boundsOf({ ...range, limit: width }, this.#last);
      const rows = this.#between(start, stop);
      const isAll = last === true ? start <= Math.max(after, 0) : stop >= Math.min(until, this.#last);
      // With gaps, as many places have fewer rows.
      if (!this.#hasGaps || isAll || rows.length >= limit)
        return within(last === true ? rows.slice(-limit) : rows.slice(0, limit), range);
    }
  }

  #between(start: number, stop: number): readonly Kept[] {
    const rows = start + 1 < this.#firstHot ? this.#coldRows(start, stop) : [];
    for (let seq = Math.max(start + 1, this.#firstHot); seq <= stop; seq += 1) {
      const kept = this.#hot.get(seq);
      if (kept !== undefined) rows.push(kept);
    }
    return rows;
  }

  drop(session: string): void {
    for (const { seq } of this.#ofSession.get(session) ?? []) this.#hot.delete(seq);
    this.#ofSession.delete(session);
    if (this.#firstHot > 1) this.#cold.run(DROP, session);
    this.#hasGaps = true;
  }

  pageOf(session: string, range: LogRange): readonly LogRow[] {
    return within(this.#rowsOf(session, range), range);
  }

  #rowsOf(session: string, range: LogRange): readonly Kept[] {
    const hot = this.#ofSession.get(session) ?? [];
    const [start, stop] = boundsOf(range, hot.at(-1)?.n ?? this.#coldLast(session));
    const isHot = this.#firstHot === 1 || start + 1 >= (hot[0]?.n ?? Number.POSITIVE_INFINITY);
    const cold = isHot ? [] : this.#cold.all(PART_OF, session, start, stop).flatMap(toRows);
    return [...cold, ...hot].filter(({ n }) => n > start && n <= stop);
  }

  archive(session: string, n: number): Archive | undefined {
    const [row] = this.#rowsOf(session, { after: n - 1, limit: 1 });
    return row === undefined || row.archived === null ? undefined : (JSON.parse(row.archived) as Archive);
  }

  setArchive(session: string, n: number, archive: Archive): void {
    const archived = JSON.stringify(archive);
    for (const row of this.#ofSession.get(session) ?? []) if (row.n === n) row.archived = archived;
    if (this.#firstHot === 1) return;
    for (const cold of this.#cold.all(ALL_OF, session)) {
      const rows = toRows(cold);
      const found = rows.find((row) => row.n === n);
      if (found === undefined) continue;
      found.archived = archived;
      this.#cold.run(REPLACE, ...toTexts(rows), session, cold[3] ?? 0);
    }
  }

  /** Takes away what was said. */
  erase(session: string): void {
    for (const row of this.#ofSession.get(session) ?? []) eraseRow(row);
    if (this.#firstHot === 1) return;
    for (const cold of this.#cold.all(ALL_OF, session)) {
      const rows = toRows(cold);
      for (const row of rows) eraseRow(row);
      this.#cold.run(REPLACE, ...toTexts(rows), session, cold[3] ?? 0);
    }
  }

  spill(): void {
    this.#hot.spill((oldest) => {
      const first = oldest[0]?.seq ?? this.#firstHot;
      const sessions = Map.groupBy(oldest, (row) => row.session);
      this.#cold.together(() => {
        for (const [session, rows] of sessions) this.#store(first, session, rows);
      });
      for (const [session, rows] of sessions) {
        const left = this.#ofSession.get(session)?.slice(rows.length) ?? [];
        if (left.length === 0) this.#ofSession.delete(session);
        else this.#ofSession.set(session, left);
      }
      this.#firstHot = (oldest.at(-1)?.seq ?? first) + 1;
    });
  }

  #store(batch: number, session: string, rows: readonly Kept[]): void {
    for (let at = 0; at < rows.length; at += TOGETHER) {
      const part = rows.slice(at, at + TOGETHER);
      const ends = [part[0]?.n ?? 0, part.at(-1)?.n ?? 0] as const;
      this.#cold.run(PUT, batch, session, ...ends, ...toTexts(part));
    }
  }

  #coldLast(session: string): number {
    if (this.#firstHot === 1) return 0;
    const [last] = this.#cold.get(LAST_OF, session) ?? [];
    return (last ?? 0) as number;
  }

  #coldRows(start: number, stop: number): Kept[] {
    const found: Kept[] = [];
    const batchAt = (sql: string, seq: number): number | undefined =>
      (this.#cold.get(sql, seq)?.[0] as number | null | undefined) ?? undefined;
    let batch = batchAt(NAMED, start + 1) ?? batchAt(NEXT, start + 1);
    while (batch !== undefined && batch <= stop) {
      const rows = this.#cold.all(BATCH, batch).flatMap(toRows);
      for (const row of rows) if (row.seq > start && row.seq <= stop) found.push(row);
      batch = batchAt(NEXT, batch);
    }
    return found.sort((a, b) => a.seq - b.seq);
  }
}

/** The rows that a range asks for, given the number of the last row: those after the first number, up to the second. */
function boundsOf({ after, until, limit, last }: LogRange, newest: number): readonly [number, number] {
  const end = Math.min(until ?? newest, newest);
  const start = Math.max(last === true ? Math.max(after, end - limit) : after, 0);
  return [start, Math.min(end, start + limit)];
}

/** What a row says beside its session and its long texts; of those, the lengths. */
type Short = readonly [
  seq: number,
  n: number,
  at: number,
  kinds: LogRow["kinds"],
  digest: string,
  hash: string,
  events: number,
  body: number | null,
  archived: number | null,
];

/** Long texts follow one another outside of the JSON: inside it, each would be escaped and parsed again for nothing. */
function toTexts(rows: readonly Kept[]): readonly [string, string] {
  const short: Short[] = [];
  let texts = "";
  for (const { seq, n, at, kinds, digest, hash, events, body, archived } of rows) {
    short.push([seq, n, at, kinds, digest, hash, events, body?.length ?? null, archived?.length ?? null]);
    texts += (body ?? "") + (archived ?? "");
  }
  return [JSON.stringify(short), texts];
}

function toRows([rows, texts, session]: ColdRow): Kept[] {
  let place = 0;
  const take = (length: number | null): string | null => {
    if (length === null) return null;
    place += length;
    return (texts as string).slice(place - length, place);
  };
  return (JSON.parse(rows as string) as Short[]).map(
    ([seq, n, at, kinds, digest, hash, events, body, archived]) => ({
      seq,
      session: session as string,
      n,
      at,
      kinds,
      digest,
      hash,
      events,
      body: take(body),
      archived: take(archived),
      weight: 0,
    }),
  );
}

function eraseRow(row: Kept): void {
  row.body = null;
  if (row.archived !== null) row.archived = JSON.stringify(eraseArchive(JSON.parse(row.archived) as Archive));
}

/** Counted from the end that the page begins at. */
function within(
  rows: readonly Kept[],
  { bytes = Number.POSITIVE_INFINITY, last }: Pick<LogRange, "bytes" | "last">,
): readonly LogRow[] {
  const found: LogRow[] = [];
  let left = bytes;
  for (const { weight: _weight, archived: _archived, ...row } of last === true ? rows.toReversed() : rows) {
    if (bytes !== Number.POSITIVE_INFINITY) left -= Buffer.byteLength(row.body ?? "");
    if (left < 0 && found.length > 0) break;
    found.push(row);
  }
  return last === true ? found.reverse() : found;
}
