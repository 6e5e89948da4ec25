import type { CheckpointRecord, JournalRange, JournalRecord, SealedUpon } from "../../engine/index.ts";
import { CHECKPOINT_COLUMNS, JOURNAL_COLUMNS, list } from "../sql/columns.ts";
import { toCheckpoint, toJournal } from "../sql/rows.ts";
import { lastWithin } from "../sql/within-bytes.ts";
import type { Database } from "./database.ts";

const JOURNAL = `select ${list(JOURNAL_COLUMNS)} from countersign.journal_page($1, $2, $3)`;
const SIZES = "select seq, octet_length(body) from countersign.journal_page($1, $2, $3)";
const CHAIN_SIZES =
  "select n, octet_length(body) from countersign.journal where stream = $1 and n > $2 order by n limit $3";
const CHAIN = `select ${list(JOURNAL_COLUMNS)} from countersign.journal where stream = $1 and n > $2 order by n limit $3`;
const CHECKPOINTS = `select ${list(CHECKPOINT_COLUMNS)} from countersign.checkpoints where k > $1 order by k limit $2`;
const LAST_CHECKPOINT = `select ${list(CHECKPOINT_COLUMNS)} from countersign.checkpoints order by k desc limit 1`;
const SEAL =
  `insert into countersign.checkpoints (${list(CHECKPOINT_COLUMNS)}) ` +
  "select $1::bigint, $2::bigint, $3::bigint, $4, $5, $6::bigint " +
  "where ($7::text is null or exists (select 1 from countersign.journal where seq = $2::bigint and hash = $7)) " +
  "and ($8::text is null or exists (select 1 from countersign.checkpoints where k = $1::bigint - 1 and hash = $8)) " +
  "on conflict do nothing";

export async function readJournal(
  database: Database,
  {
    after,
    until = Number.MAX_SAFE_INTEGER,
    limit,
    bytes,
  }: JournalRange & {
    readonly until?: number;
  },
): Promise<readonly JournalRecord[]> {
  const end =
    bytes === undefined ? until : lastWithin(await database.all(SIZES, [after, until, limit]), bytes);
  return end === undefined ? [] : (await database.all(JOURNAL, [after, end, limit])).map(toJournal);
}

export async function readChain(
  database: Database,
  stream: string,
  { after, limit, bytes }: JournalRange,
): Promise<readonly JournalRecord[]> {
  const end =
    bytes === undefined
      ? undefined
      : lastWithin(await database.all(CHAIN_SIZES, [stream, after, limit]), bytes);
  return (await database.all(CHAIN, [stream, after, end === undefined ? limit : end - after])).map(toJournal);
}

export async function readCheckpoints(
  database: Database,
  after: number,
  limit: number,
): Promise<readonly CheckpointRecord[]> {
  return (await database.all(CHECKPOINTS, [after, limit])).map(toCheckpoint);
}

export async function readLastCheckpoint(database: Database): Promise<CheckpointRecord | undefined> {
  const row = await database.get(LAST_CHECKPOINT);
  return row && toCheckpoint(row);
}

export async function insertCheckpoint(
  database: Database,
  { k, lastSeq, count, root, hash, at }: CheckpointRecord,
  upon: SealedUpon | undefined,
): Promise<boolean> {
  const values = [k, lastSeq, count, root, hash, at, upon?.record ?? null, upon?.previous ?? null];
  return (await database.run(SEAL, values)) === 1;
}
