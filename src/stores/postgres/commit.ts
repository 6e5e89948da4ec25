import { randomBytes } from "node:crypto";
import type { Commit, CommitOutcome } from "../../engine/index.ts";
import type { Database } from "./database.ts";
import { erasedVotes } from "./erased-votes.ts";
import { conflictOf } from "./postgres-errors.ts";
import { toWrites } from "./to-writes.ts";

type Conflict = Extract<CommitOutcome, { ok: false }>["conflict"];

const COMMIT =
  "select countersign.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";

/**
 * One statement, and so one transaction and one round trip. It carries an id of its own: where the connection is lost
 * and it is sent again, it is known whether the first one was done.
 */
export async function applyCommit(
  database: Database,
  commit: Commit,
  { sync }: { readonly sync: boolean },
): Promise<CommitOutcome> {
  const { session, change, owner } = commit;
  const { key, version, head, create } = session;
  const { nextSeq, open, ready, chain, updatedAt, deletedAt } = change;
  const writes = toWrites(commit.writes, await erasedVotes(database, commit));
  const values = [newCommitId(), sync, owner ?? null, key, version, head ?? null];
  values.push(create?.app ?? null, create?.user ?? null, create?.id ?? null);
  values.push(nextSeq, open, ready, chain.n, chain.hash, updatedAt, deletedAt ?? null, writes);
  const found = await database.get(COMMIT, values).then(
    (row) => row?.[0] as string,
    (error: unknown) => raisedConflict(error),
  );
  return found === "ok" ? { ok: true } : { ok: false, conflict: found as Conflict };
}

function raisedConflict(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const conflict = conflictOf(cause);
  if (conflict === undefined) throw error;
  return conflict;
}

function newCommitId(): string {
  return randomBytes(8).readBigInt64BE().toString();
}
