import { type Approvers, isAnybody, type Principal, type PrincipalKind } from "./principal.ts";
import type { Requirement } from "./requirement.ts";

/** The question whose rule is asked. */
export interface Ruled {
  readonly requirements: readonly Requirement[];
  readonly requesters: readonly string[];
}

// The host program, its author's code and the person at this machine. There is no login between them and the requester,
// so they may decide for the rule "requester".
const VOUCHED_BY_HOST: ReadonlySet<PrincipalKind> = new Set(["local", "provider", "author"]);

/** Kinds whose login has scopes; without scopes they may do nothing. */
const SCOPED: ReadonlySet<PrincipalKind> = new Set(["token", "oidc", "channel"]);

/**
 * May this principal decide, settle or withdraw anything at all, before any rule is asked? An agent never may. Everyone
 * who logged in needs the scope `decide`, and so does every principal that has scopes.
 */
export function mayJudge({ kind, scopes }: Principal): boolean {
  if (kind === "agent") return false;
  return scopes.includes("decide") || (scopes.length === 0 && !SCOPED.has(kind));
}

/** Why {@link mayJudge} says no. */
export function withoutRight({ id, kind }: Principal): string {
  return kind === "agent"
    ? `${id} is an agent. Agents may not decide, settle or withdraw.`
    : `${id} does not have the scope "decide".`;
}

/** Does the host itself vouch for this principal? */
export function isVouched({ kind }: Pick<Principal, "kind">): boolean {
  return VOUCHED_BY_HOST.has(kind);
}

/**
 * May this principal decide? The one place that answers it, for every way in. Everyone whom the rule does not allow is
 * refused. An agent is always refused. Without logins, only the rule "requester" can be decided.
 */
export function mayDecide(rule: Ruled, principal: Principal): boolean {
  if (principal.kind === "agent") return false;
  const asked = isRequester(rule, principal);
  return rule.requirements.some(({ from }) =>
    from === "requester"
      ? isVouched(principal) || asked
      : !isAnybody(principal) && admits(from, principal, asked),
  );
}

function admits(
  { roles = [], users = [], notRequester = false }: Exclude<Approvers, "requester">,
  principal: Principal,
  asked: boolean,
): boolean {
  if (notRequester && asked) return false;
  if (users.includes(principal.id) || principal.roles.some((role) => roles.includes(role))) return true;
  // "Anyone but the requester" still needs a known person.
  return notRequester && roles.length === 0 && users.length === 0 && principal.authenticated;
}

/** Did this principal, or the person they act for, ask for the call? */
export function isRequester(rule: Pick<Ruled, "requesters">, principal: Principal): boolean {
  return (
    rule.requesters.includes(principal.id) ||
    (principal.onBehalfOf !== undefined && rule.requesters.includes(principal.onBehalfOf))
  );
}

/** May this principal withdraw the question? The requester may, and everyone who could decide it. */
export function mayWithdraw(rule: Ruled, principal: Principal): boolean {
  return principal.kind !== "agent" && (isRequester(rule, principal) || mayDecide(rule, principal));
}
