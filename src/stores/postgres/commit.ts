import { randomBytes } from "node:crypto";
import type { Commit, CommitOutcome } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { SqlValue } from "../sql/row.ts";
import type { Database } from "./database.ts";
import { type CommitTerms, toDirect } from "./direct-commit.ts";
import { erasedVotes } from "./erased-votes.ts";
import { conflictOf } from "./postgres-errors.ts";
import { toWrites } from "./to-writes.ts";

type Conflict = Extract<CommitOutcome, { ok: false }>["conflict"];

const COMMIT =
  "select countersign.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";

/**
 * One statement, and so one transaction and one round trip; if it is refused a second says why. It carries an id of its own: where the connection is lost
 * and it is sent again, it is known whether the first one was done, by the session's version or by a record. Of a claim
 * that leaves no record, in a session that others have gone on with since, it is not known: that throws
 * `ledger-unreachable`, and reconciliation or the end of the lease finds it.
 */
export async function applyCommit(
  database: Database,
  commit: Commit,
  { sync }: { readonly sync: boolean },
): Promise<CommitOutcome> {
  const id = newCommitId();
  let lost = false;
  const onLost = (): void => {
    lost = true;
  };
  if (await isDone(database, commit, { id, sync, onLost })) return { ok: true };
  const writes = toWrites(commit.writes, await erasedVotes(database, commit));
  const values = [id, sync, ...sessionValues(commit), writes];
  const found = await database.get(COMMIT, values, { onLost, shared: !sync && !erases(commit) }).then(
    (row) => row?.[0] as string,
    (error: unknown) => raisedConflict(error),
  );
  if (found === "version" && lost && isClaimWithoutRecord(commit)) throw inDoubt(database.name);
  return found === "ok" ? { ok: true } : { ok: false, conflict: found as Conflict };
}

function sessionValues({ session, change, owner }: Commit): readonly SqlValue[] {
  const { key, version, head, create } = session;
  const { nextSeq, open, ready, bytes, chain, updatedAt, deletedAt } = change;
  const values = [owner ?? null, key, version, head ?? null];
  values.push(create?.app ?? null, create?.user ?? null, create?.id ?? null);
  return [...values, nextSeq, open, ready, bytes, chain.n, chain.hash, updatedAt, deletedAt ?? null];
}

/** The usual way, which plans a long statement once on each connection, and so only where it can be kept there. */
async function isDone(
  database: Database,
  commit: Commit,
  { onLost, ...terms }: CommitTerms & { readonly onLost: () => void },
): Promise<boolean> {
  const direct = database.keepsSessions ? toDirect(commit, terms) : undefined;
  if (direct === undefined) return false;
  const found = await database.get(direct.text, direct.values, { onLost, shared: !terms.sync }).then(
    (row) => row?.[0],
    (error: unknown) => raisedConflict(error),
  );
  return found === "ok";
}

function raisedConflict(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const conflict = conflictOf(cause);
  if (conflict === undefined) throw error;
  return conflict;
}

function erases({ writes }: Commit): boolean {
  return writes.some(({ kind }) => kind === "erase");
}

function isClaimWithoutRecord({ owner, writes }: Commit): boolean {
  return owner !== undefined && !writes.some(({ kind }) => kind === "journal");
}

function inDoubt(name: string): CountersignError {
  return new CountersignError(
    "ledger-unreachable",
    `Connection to the ledger "${name}" lost; it is unknown whether the commit happened. Read it again.`,
    { details: { ledger: name } },
  );
}

// From a random start, lest two processes give out the same ones.
let lastCommitId = randomBytes(8).readBigInt64BE();

function newCommitId(): string {
  lastCommitId = BigInt.asIntN(64, lastCommitId + 1n);
  return lastCommitId.toString();
}
