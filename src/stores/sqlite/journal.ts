import type { CheckpointRecord, JournalRange, JournalRecord, SealedUpon } from "../../engine/index.ts";
import { CHECKPOINT_COLUMNS, insertInto, JOURNAL_COLUMNS, list } from "../sql/columns.ts";
import { toCheckpoint, toJournal } from "../sql/rows.ts";
import { lastWithin } from "../sql/within-bytes.ts";
import type { Database } from "./database.ts";

const JOURNAL = `select ${list(JOURNAL_COLUMNS)} from journal where seq > ? and seq <= ? order by seq limit ?`;
const SIZES = "select seq, octet_length(body) from journal where seq > ? and seq <= ? order by seq limit ?";
const CHAIN_SIZES = "select n, octet_length(body) from journal where stream = ? and n > ? order by n limit ?";
const CHAIN = `select ${list(JOURNAL_COLUMNS)} from journal where stream = ? and n > ? order by n limit ?`;
const CHECKPOINTS = `select ${list(CHECKPOINT_COLUMNS)} from checkpoints where k > ? order by k limit ?`;
const LAST_CHECKPOINT = `select ${list(CHECKPOINT_COLUMNS)} from checkpoints order by k desc limit 1`;
const SEAL = `${insertInto("checkpoints", CHECKPOINT_COLUMNS)} on conflict do nothing`;
const HAS_RECORD = "select 1 from journal where seq = ? and hash = ?";
const HAS_CHECKPOINT = "select 1 from checkpoints where k = ? and hash = ?";

export function readJournal(
  database: Database,
  {
    after,
    until = Number.MAX_SAFE_INTEGER,
    limit,
    bytes,
  }: JournalRange & {
    readonly until?: number;
  },
): readonly JournalRecord[] {
  const end = bytes === undefined ? until : lastWithin(database.all(SIZES, [after, until, limit]), bytes);
  return end === undefined ? [] : database.all(JOURNAL, [after, end, limit]).map(toJournal);
}

export function readChain(
  database: Database,
  stream: string,
  { after, limit, bytes }: JournalRange,
): readonly JournalRecord[] {
  const end =
    bytes === undefined ? undefined : lastWithin(database.all(CHAIN_SIZES, [stream, after, limit]), bytes);
  return database.all(CHAIN, [stream, after, end === undefined ? limit : end - after]).map(toJournal);
}

export function readCheckpoints(
  database: Database,
  after: number,
  limit: number,
): readonly CheckpointRecord[] {
  return database.all(CHECKPOINTS, [after, limit]).map(toCheckpoint);
}

export function readLastCheckpoint(database: Database): CheckpointRecord | undefined {
  const row = database.get(LAST_CHECKPOINT);
  return row && toCheckpoint(row);
}

/** Inside a write transaction. */
export function insertCheckpoint(
  database: Database,
  { k, lastSeq, count, root, hash, at }: CheckpointRecord,
  { record, previous }: Partial<SealedUpon> = {},
): boolean {
  if (record !== undefined && database.get(HAS_RECORD, [lastSeq, record]) === undefined) return false;
  if (previous !== undefined && database.get(HAS_CHECKPOINT, [k - 1, previous]) === undefined) return false;
  return database.run(SEAL, [k, lastSeq, count, root, hash, at]) === 1;
}
