import {
  type Confirmation,
  type ConfirmationFilter,
  type ConfirmationSubject,
  type Counting,
  isRequester,
  mayEverDecide,
  type Principal,
  type Ruled,
  rightsOf,
  type Snapshot,
  toConfirmation,
  viewsAs,
  viewsForOthers,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { hasScope } from "../scopes.ts";
import type { Site } from "../site.ts";

/** May somebody see this question? Everyone who may decide it, the requester, and administrators. */
export function maySee(rule: Ruled, principal: Principal, counting: Partial<Counting> = {}): boolean {
  if (hasScope(principal, "admin") || isRequester(rule, principal, counting.directory)) return true;
  // A delegation, or what is known about people, shows more and never hides anything.
  return mayEverDecide(rule, principal) || mayEverDecide(rule, principal, counting);
}

/** The labels for what {@link maySee} allows somebody to see; undefined if they may see everything. */
export function viewersFor(
  principal: Principal,
  counting: Partial<Counting>,
): Pick<ConfirmationFilter, "viewers" | "delegated"> {
  return hasScope(principal, "admin") ? {} : decidersViews(principal, counting);
}

/** The labels of what somebody may decide, for themselves or for others, or has asked for. */
export function decidersViews(
  principal: Principal,
  counting: Partial<Counting>,
): Pick<ConfirmationFilter, "viewers" | "delegated"> {
  const delegated = viewsForOthers(principal, counting);
  return {
    viewers: viewsAs(principal, counting.directory),
    ...(delegated.length === 0 ? {} : { delegated }),
  };
}

/** What somebody may do with it through this API: what the rule and their scopes allow. */
export function rightsHere(
  subject: Pick<ConfirmationSubject, "confirmation" | "call">,
  principal: Principal,
  counting?: Partial<Counting>,
): Confirmation["can"] {
  const rights = rightsOf(subject, principal, counting);
  return hasScope(principal, "decide") ? rights : { decide: false, amend: false, cancel: false };
}

/** A confirmation as this principal sees it. */
export function show(
  subject: ConfirmationSubject,
  principal: Principal,
  counting: Partial<Counting>,
): Confirmation {
  return { ...toConfirmation(subject), can: rightsHere(subject, principal, counting) };
}

/** A confirmation as it was read, with what belongs to it. */
export type Seen = Snapshot & ConfirmationSubject;

/** Reads a confirmation that the principal may see; any other does not exist for them. */
export async function find(
  site: Pick<Site, "ledger" | "counting">,
  id: string,
  principal: Principal,
): Promise<Seen> {
  const snapshot = await (await site.ledger()).load({ confirmation: id });
  const { confirmation, call } = snapshot ?? {};
  if (snapshot === undefined || confirmation === undefined || call === undefined) throw unknown(id);
  const isSeen =
    maySee(confirmation, principal) || maySee(confirmation, principal, await site.counting(confirmation.app));
  if (!isSeen) throw unknown(id);
  return { ...snapshot, confirmation, call };
}

/** The error for a missing confirmation, and for one that somebody may not see. */
export function unknown(id: string): CountersignError {
  return new CountersignError(
    "unknown-confirmation",
    `There is no confirmation ${id}, or none that you may see.`,
    { details: { hint: "GET /v1/confirmations lists what you may see." } },
  );
}
