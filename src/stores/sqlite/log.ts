import type { Archive, CheckpointRecord, LogRange, LogRow, ReadLine, Store } from "../../engine/index.ts";
import { CHECKPOINT_COLUMNS, LOG_COLUMNS, toCheckpoint, toLogRow } from "../sql/log-rows.ts";
import type { Database } from "./connection/database.ts";
import type { SqlValue } from "./connection/driver.ts";

const SELECT = `select ${LOG_COLUMNS} from log`;
const OLDEST = `${SELECT} where seq > ? and seq <= ? order by seq limit ?`;
const NEWEST = `${SELECT} where seq > ? and seq <= ? order by seq desc limit ?`;
const OLDEST_OF = `${SELECT} where session = ? and n > ? and n <= ? order by n limit ?`;
const NEWEST_OF = `${SELECT} where session = ? and n > ? and n <= ? order by n desc limit ?`;
const AT = `${SELECT} where seq = ?`;
const ARCHIVE = "select archived from log where session = ? and n = ?";
const DELETE_LINES =
  "delete from log where session = ? and exists (select 1 from documents where key = log.session and deleted = 1)";
const HAS_ROW = "select 1 from log where seq = ? and hash = ?";

const CHECKPOINT = `select ${CHECKPOINT_COLUMNS} from checkpoints`;
const LAST_CHECKPOINT = `${CHECKPOINT} order by k desc limit 1`;
const CHECKPOINTS = `${CHECKPOINT} where k > ? order by k limit ?`;
const HAS_CHECKPOINT = "select 1 from checkpoints where k = ? and hash = ?";
const SEAL =
  "insert into checkpoints (k, last_seq, count, root, hash, at) values (?, ?, ?, ?, ?, ?) on conflict do nothing";

export function readLog(database: Database, range: LogRange): readonly LogRow[] {
  const { session, last } = range;
  if (session === undefined) return readRows(database, last === true ? NEWEST : OLDEST, [], range);
  return readRows(database, last === true ? NEWEST_OF : OLDEST_OF, [session], range);
}

export function readLogAt(database: Database, seqs: readonly number[]): readonly LogRow[] {
  return seqs.flatMap((seq) => database.all(AT, [seq]).map(toLogRow));
}

export function readArchive(database: Database, session: string, n: number): Archive | undefined {
  const [archived = null] = database.get(ARCHIVE, [session, n]) ?? [];
  return archived === null ? undefined : (JSON.parse(archived as string) as Archive);
}

/** Inside a write transaction. */
export function deleteLines(database: Database, sessions: readonly string[]): void {
  for (const session of sessions) database.run(DELETE_LINES, [session]);
}

export function readCheckpoints(
  database: Database,
  which: { readonly after: number; readonly limit: number } | "last",
): readonly CheckpointRecord[] {
  const rows =
    which === "last" ? database.all(LAST_CHECKPOINT) : database.all(CHECKPOINTS, [which.after, which.limit]);
  return rows.map(toCheckpoint);
}

export function areThere(database: Database, lines: readonly ReadLine[]): boolean {
  return lines.every(({ seq, hash }) => database.get(HAS_ROW, [seq, hash]) !== undefined);
}

/** Inside a write transaction. False if the number is taken, or if what it was made from is missing. */
export function insertCheckpoint(
  database: Database,
  { k, lastSeq, count, root, hash, at }: CheckpointRecord,
  { previous, rows = [] }: Partial<NonNullable<Parameters<Store["seal"]>[1]>> = {},
): boolean {
  if (!areThere(database, rows)) return false;
  if (previous !== undefined && database.get(HAS_CHECKPOINT, [k - 1, previous]) === undefined) return false;
  return database.run(SEAL, [k, lastSeq, count, root, hash, at]) === 1;
}

/** Row by row, so that at most one row too many is in memory. */
function readRows(
  database: Database,
  sql: string,
  place: readonly SqlValue[],
  { after, until = Number.MAX_SAFE_INTEGER, limit, bytes = Number.POSITIVE_INFINITY, last }: LogRange,
): readonly LogRow[] {
  const found: LogRow[] = [];
  let left = bytes;
  const most = Math.min(limit, Number.MAX_SAFE_INTEGER);
  for (const row of database.iterate(sql, [...place, after, until, most])) {
    const read = toLogRow(row);
    left -= read.body === null ? 0 : Buffer.byteLength(read.body);
    if (left < 0 && found.length > 0) break;
    found.push(read);
  }
  return last === true ? found.reverse() : found;
}
