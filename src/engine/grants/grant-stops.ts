import type { CallRecord, GrantRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { grantIsGenuine } from "./grant-mac.ts";
import { notApproved } from "./not-approved.ts";

/**
 * Why a call that a grant let run may not start now: the grant was revoked since; or, before the call's first start, it
 * ended, is not as it was stored, or the approvals behind it no longer count. Undefined for a call without a grant.
 */
export function grantStops(
  parts: EngineParts,
  { grant: use, attempt }: Pick<CallRecord, "grant" | "attempt">,
  /** As it is stored now. */
  grant: GrantRecord | undefined,
  now: number,
): string | undefined {
  if (use === undefined) return undefined;
  const name = `the grant ${use.id}`;
  // Only grants that have ended or were revoked leave their session, and only those that have ended their item.
  if (grant === undefined) return `${name} is over`;
  if (grant.revoked !== undefined) return `${name} was revoked`;
  if (attempt > 0) return undefined;
  if (grant.endsAt <= now) return `${name} has ended`;
  if (!grantIsGenuine(parts, grant)) return `${name} has no valid signature`;
  const lapsed = notApproved(parts, grant, now);
  return lapsed === undefined ? undefined : `${name} does not hold: ${lapsed}`;
}
