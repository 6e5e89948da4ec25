import type { Archive, CheckpointRecord, LogRange, LogRow, Store } from "../../engine/index.ts";
import { CHECKPOINT_COLUMNS, LOG_COLUMNS, toCheckpoint, toLogRow } from "../sql/log-rows.ts";
import { type Database, hasNul } from "./connection/index.ts";

/** As many rows of a page as have bodies of at most this many bytes together, but at least one. Longer ones are not read. */
const within = (page: string, bytes: string, order = "seq"): string =>
  `select ${LOG_COLUMNS} from (select p.*, row_number() over (order by ${order}) as nth, ` +
  `sum(octet_length(p.body)) over (order by ${order}) as total from (${page}) p) q ` +
  `where nth = 1 or ${bytes}::bigint is null or coalesce(total, 0) <= ${bytes}::bigint order by seq`;

const LOG_PAGE = "select * from countersign.log_page($1, $2, $3, $4)";
const LOG = within(LOG_PAGE, "$5");
const NEWEST = within(LOG_PAGE, "$5", "seq desc");
const OF_SESSION = "select * from countersign.log where session = $1 and n > $2 and n <= $3";
const OLDEST_OF = within(`${OF_SESSION} order by n limit $4`, "$5");
const NEWEST_OF = within(`${OF_SESSION} order by n desc limit $4`, "$5", "seq desc");

const AT = `select ${LOG_COLUMNS} from countersign.log where seq = any ($1::bigint[]) order by seq`;
const ARCHIVE = "select archived from countersign.log where session = $1 and n = $2";

const DELETE_LINES =
  "delete from countersign.log l using countersign.documents d " +
  "where l.session = any ($1::text[]) and d.key = l.session and d.deleted";

const CHECKPOINT = `select ${CHECKPOINT_COLUMNS} from countersign.checkpoints`;
const CHECKPOINTS = `${CHECKPOINT} where k > $1 order by k limit $2`;
const LAST_CHECKPOINT = `${CHECKPOINT} order by k desc limit 1`;
/** Are these lines there, whose numbers and hashes these two parameters are? */
export const areThere = (seqs: string, hashes: string): string =>
  `not exists (select 1 from unnest(${seqs}::bigint[], ${hashes}::text[]) read (seq, hash) ` +
  "where not exists (select 1 from countersign.log l where l.seq = read.seq and l.hash = read.hash))";

const SEAL =
  "insert into countersign.checkpoints (k, last_seq, count, root, hash, at) " +
  "select $1::bigint, $2::bigint, $3::bigint, $4, $5, $6::bigint " +
  `where ${areThere("$7", "$8")} ` +
  "and ($9::text is null or exists (select 1 from countersign.checkpoints where k = $1::bigint - 1 and hash = $9)) " +
  // A crash may have taken lines before the last one: they are written, and flushed, in another order than numbered.
  "and ($7::bigint[] is null or $3::bigint - coalesce((select p.count from countersign.checkpoints p where p.k = $1::bigint - 1), 0) = " +
  "(select count(*) from countersign.log l where l.seq <= $2::bigint and l.seq > " +
  "coalesce((select p.last_seq from countersign.checkpoints p where p.k = $1::bigint - 1), 0))) " +
  "on conflict do nothing";

export async function readLog(
  database: Database,
  { session, after, until = Number.MAX_SAFE_INTEGER, limit, bytes, last }: LogRange,
): Promise<readonly LogRow[]> {
  if (session === undefined) {
    const text = last === true ? NEWEST : LOG;
    return (await database.all(text, [after, until, limit, last === true, bytes ?? null])).map(toLogRow);
  }
  if (hasNul(session)) return [];
  const text = last === true ? NEWEST_OF : OLDEST_OF;
  return (await database.all(text, [session, after, until, limit, bytes ?? null])).map(toLogRow);
}

export async function readLogAt(database: Database, seqs: readonly number[]): Promise<readonly LogRow[]> {
  return seqs.length === 0 ? [] : (await database.all(AT, [seqs])).map(toLogRow);
}

export async function readArchive(
  database: Database,
  session: string,
  n: number,
): Promise<Archive | undefined> {
  if (hasNul(session)) return undefined;
  const [archived = null] = (await database.get(ARCHIVE, [session, n])) ?? [];
  return archived === null ? undefined : (JSON.parse(archived as string) as Archive);
}

export async function deleteLines(database: Database, sessions: readonly string[]): Promise<void> {
  await database.run(DELETE_LINES, [sessions]);
}

export async function readCheckpoints(
  database: Database,
  which: { readonly after: number; readonly limit: number } | "last",
): Promise<readonly CheckpointRecord[]> {
  const rows =
    which === "last"
      ? await database.all(LAST_CHECKPOINT)
      : await database.all(CHECKPOINTS, [which.after, which.limit]);
  return rows.map(toCheckpoint);
}

export async function insertCheckpoint(
  database: Database,
  { k, lastSeq, count, root, hash, at }: CheckpointRecord,
  upon: Parameters<Store["seal"]>[1],
): Promise<boolean> {
  const read = [upon?.rows.map(({ seq }) => seq) ?? null, upon?.rows.map((row) => row.hash) ?? null];
  const values = [k, lastSeq, count, root, hash, at, ...read, upon?.previous ?? null];
  return (await database.run(SEAL, values)) === 1;
}
