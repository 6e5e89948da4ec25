import type { Commit, Shown, Vote } from "../../engine/index.ts";
import { fromJson, toJson } from "../sql/rows.ts";
import type { Columns } from "./changed-columns.ts";
import type { Database } from "./database.ts";

/** What is left of what was put before a person. */
export const NOTHING_SHOWN: Shown = { hint: "", why: [] };

const VOTES = "select id, votes from countersign.confirmations where session = $1 and votes <> '[]'";

/**
 * The votes of a session that is to be erased, by confirmation, without what was said in them. Read before the commit:
 * if they change meanwhile, so does the session's version, and the commit is refused.
 */
export async function erasedVotes(database: Database, { session, writes }: Commit): Promise<Columns> {
  const erasure = writes.findIndex(({ kind }) => kind === "erase");
  if (erasure < 0) return {};
  const stored = await database.all(VOTES, [session.key]);
  const votes = new Map(stored.map(([id, text]) => [id as string, fromJson(text) as readonly Vote[]]));
  for (const write of writes.slice(0, erasure)) {
    if (write.kind === "confirmation-insert") votes.set(write.confirmation.id, write.confirmation.votes);
    if (write.kind === "confirmation-update" && write.set.votes !== undefined)
      votes.set(write.id, write.set.votes);
  }
  return Object.fromEntries([...votes].map(([id, all]) => [id, toJson(all.map(eraseVote))]));
}

function eraseVote({ reason: _reason, payload: _payload, args: _args, ...kept }: Vote): Vote {
  return kept;
}
