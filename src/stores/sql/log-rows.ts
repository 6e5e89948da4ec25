import type { CheckpointRecord, LogRow } from "../../engine/index.ts";

/** The columns of `log` that make a {@link LogRow}, in the order of {@link toLogRow}. */
export const LOG_COLUMNS = "seq, session, n, at, kinds, digest, hash, events, body";

export function toLogRow([
  seq,
  session,
  n,
  at,
  kinds,
  digest,
  hash,
  events,
  body,
]: readonly unknown[]): LogRow {
  return {
    seq: seq as number,
    session: session as string,
    n: n as number,
    at: at as number,
    kinds: kinds === "" ? [] : (JSON.parse(kinds as string) as string[]),
    digest: digest as string,
    hash: hash as string,
    events: events as number,
    body: body as string | null,
  };
}

/** The columns of `checkpoints`, in the order of {@link toCheckpoint}. */
export const CHECKPOINT_COLUMNS = "k, last_seq, count, root, hash, at";

export function toCheckpoint([k, lastSeq, count, root, hash, at]: readonly unknown[]): CheckpointRecord {
  return {
    k: k as number,
    lastSeq: lastSeq as number,
    count: count as number,
    root: root as string,
    hash: hash as string,
    at: at as number,
  };
}
