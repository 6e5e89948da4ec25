import type { CallRecord, SessionRecord } from "../ledger/index.ts";

/**
 * Why a call that a grant let run may not start now: the grant was revoked since, or it ended before the call's first
 * start. Undefined for a call without a grant.
 */
export function grantStops(
  { grant: use, attempt }: Pick<CallRecord, "grant" | "attempt">,
  { grants = [] }: Pick<SessionRecord, "grants">,
  now: number,
): string | undefined {
  if (use === undefined) return undefined;
  const grant = grants.find(({ id }) => id === use.id);
  if (grant === undefined || grant.revoked !== undefined) return `the grant ${use.id} was revoked`;
  return attempt === 0 && grant.endsAt <= now ? `the grant ${use.id} has ended` : undefined;
}
