import type { GrantRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { tally } from "../people/index.ts";

/** Why the approvals behind the grant no longer count: somebody left a group, or a role has lapsed. */
export function notApproved(
  { directory }: EngineParts,
  { approvals, requirements, requesters, escalations }: GrantRecord,
  now: number,
): string | undefined {
  const ballot = {
    requirements,
    requesters,
    votes: approvals,
    ...(escalations === undefined ? {} : { escalations }),
  };
  return tally(ballot, { directory, now }).outcome === "approved"
    ? undefined
    : "the approvals behind it no longer count";
}
