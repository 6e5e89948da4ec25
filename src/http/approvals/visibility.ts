import {
  type Confirmation,
  type ConfirmationSubject,
  isRequester,
  type Ledger,
  mayEverDecide,
  type Principal,
  type Ruled,
  rightsOf,
  type Snapshot,
  toConfirmation,
  viewsAs,
} from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { hasScope } from "../scopes.ts";

/** May somebody see this question? Everyone who may decide it, the requester, and administrators. */
export function maySee(rule: Ruled, principal: Principal): boolean {
  return hasScope(principal, "admin") || mayEverDecide(rule, principal) || isRequester(rule, principal);
}

/** The labels for what {@link maySee} allows somebody to see; undefined if they may see everything. */
export function viewersFor(principal: Principal): { readonly viewers?: readonly string[] } {
  return hasScope(principal, "admin") ? {} : { viewers: viewsAs(principal) };
}

/** What somebody may do with it through this API: what the rule and their scopes allow. */
export function rightsHere(
  subject: Pick<ConfirmationSubject, "confirmation" | "call">,
  principal: Principal,
): Confirmation["can"] {
  const { decide, amend, cancel } = rightsOf(subject, principal);
  const mayHere = hasScope(principal, "decide");
  return { decide: decide && mayHere, amend: amend && mayHere, cancel: cancel && mayHere };
}

/** A confirmation as this principal sees it. */
export function show(subject: ConfirmationSubject, principal: Principal): Confirmation {
  return { ...toConfirmation(subject), can: rightsHere(subject, principal) };
}

/** A confirmation as it was read, with what belongs to it. */
export type Seen = Snapshot & ConfirmationSubject;

/** Reads a confirmation that the principal may see; any other does not exist for them. */
export async function find(ledger: Pick<Ledger, "load">, id: string, principal: Principal): Promise<Seen> {
  const snapshot = await ledger.load({ confirmation: id });
  const { confirmation, call } = snapshot ?? {};
  if (snapshot === undefined || confirmation === undefined || call === undefined) throw unknown(id);
  if (!maySee(confirmation, principal)) throw unknown(id);
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
