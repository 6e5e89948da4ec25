import { type Approvers, isAnybody, type Principal, type PrincipalKind } from "./principal.ts";

/** The question whose rule is asked. */
export interface Ruled {
  readonly approvers: Approvers;
  readonly requesters: readonly string[];
}

// The host program, its author's code and the person at this machine: no login stands between them and the
// requester, so the rule that protects the requester from the model admits them.
const VOUCHED_BY_HOST: ReadonlySet<PrincipalKind> = new Set(["local", "provider", "author"]);

/** Kinds whose login says what they may use; without a word about it they may use nothing. */
const SCOPED: ReadonlySet<PrincipalKind> = new Set(["token", "oidc", "channel"]);

/**
 * May this principal decide, settle or withdraw anything at all, before any rule is asked? An agent never may. Whoever
 * logged in needs the scope `decide`, and so does everybody about whose scopes something is said.
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

/** Is this somebody for whom the host itself speaks? */
export function isVouched({ kind }: Pick<Principal, "kind">): boolean {
  return VOUCHED_BY_HOST.has(kind);
}

/**
 * May this principal decide? The one place that answers it, for every way in. Anything not admitted by the
 * rule is refused; an agent is always refused, and where nobody logs in only the requester's own rule is open.
 */
export function mayDecide(rule: Ruled, principal: Principal): boolean {
  if (principal.kind === "agent") return false;
  if (rule.approvers === "requester") {
    return isVouched(principal) || isRequester(rule, principal);
  }
  return !isAnybody(principal) && admits(rule.approvers, principal, isRequester(rule, principal));
}

function admits(
  { roles = [], users = [], notRequester = false }: Exclude<Approvers, "requester">,
  principal: Principal,
  asked: boolean,
): boolean {
  if (notRequester && asked) return false;
  if (users.includes(principal.id) || principal.roles.some((role) => roles.includes(role))) return true;
  // "Anyone but the requester" still means someone who is known.
  return notRequester && roles.length === 0 && users.length === 0 && principal.authenticated;
}

/** Did this principal, or the person they act for, ask for the call? */
export function isRequester(rule: Pick<Ruled, "requesters">, principal: Principal): boolean {
  return (
    rule.requesters.includes(principal.id) ||
    (principal.onBehalfOf !== undefined && rule.requesters.includes(principal.onBehalfOf))
  );
}

/** May this principal withdraw the question? Whoever asked, and whoever could decide it. */
export function mayWithdraw(rule: Ruled, principal: Principal): boolean {
  return principal.kind !== "agent" && (isRequester(rule, principal) || mayDecide(rule, principal));
}
