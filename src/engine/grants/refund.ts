import { member } from "../../protocol/index.ts";
import { type CallRecord, type Draft, type GrantRecord, isShared } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { amountText, minus, readSum } from "./amount.ts";
import { changeGrant, grantIsGenuine } from "./grant-mac.ts";
import { sharedGrant } from "./shared.ts";

/**
 * Gives back to a grant what a call took of it, in the commit that says that the call did not happen, and says whether
 * it did. A grant that has ended, was revoked or is not as it was stored gets nothing, and none gets more than was taken.
 */
export async function refundGrant(parts: EngineParts, draft: Draft, call: CallRecord): Promise<boolean> {
  const { grant: use } = call;
  if (use === undefined) return false;
  const grant = isShared(use)
    ? await sharedGrant(parts, use.id)
    : draft.grants.find(({ id }) => id === use.id);
  if (grant === undefined || !isLive(parts, grant, draft.now)) return false;
  if (isShared(use)) draft.addShared(grant);
  const spent = without(grant.spent, use.took);
  if (grant.uses < 1 || spent === undefined) return false;
  const uses = grant.uses - 1;
  const refunds = (grant.refunds ?? 0) + 1;
  changeGrant(parts, draft, { ...grant, uses, spent, refunds });
  draft.journal("grant-refunded", { grant: grant.id, call: call.id, tool: call.tool, uses, spent });
  return true;
}

function isLive(parts: EngineParts, grant: GrantRecord, now: number): boolean {
  return grant.revoked === undefined && grant.endsAt > now && grantIsGenuine(parts, grant);
}

/** The sums without what one call took; undefined if it took more than there is. */
function without(spent: GrantRecord["spent"], took: GrantRecord["spent"]): GrantRecord["spent"] | undefined {
  const sums = new Map(Object.entries(spent));
  for (const [argument, amount] of Object.entries(took)) {
    const [before, taken] = [readSum(member(spent, argument) ?? ""), readSum(amount)];
    const after = before === undefined || taken === undefined ? undefined : minus(before, taken);
    if (after === undefined) return undefined;
    sums.set(argument, amountText(after));
  }
  return Object.fromEntries(sums);
}
