import { areOne, delegatedTo, type VoteDelegation } from "./delegation.ts";
import type { Directory } from "./directory.ts";
import { type Approvers, isAnybody, type Principal, type PrincipalKind } from "./principal.ts";
import type { Requirement } from "./requirement.ts";

/** The question whose rule is asked. */
export interface Ruled {
  readonly requirements: readonly Requirement[];
  readonly requesters: readonly string[];
  /** People who may fill in for some requirements, from a time on. */
  readonly escalations?: readonly EscalatedTo[];
  /** For the scope of delegations. */
  readonly app?: string;
  readonly tool?: string;
}

/** People who may fill in from `at` on. */
export interface EscalatedTo {
  readonly at: number | string;
  readonly to: Approvers;
  /** The policy's name of the group, if it is one. */
  readonly group?: string;
  /** Which of the question's requirements, by their index. */
  readonly fills: readonly number[];
  /** People were told. */
  readonly reached: boolean;
}

/**
 * What votes are judged with: what the policy says about people now, the ledger's clock, and the delegations in force. A
 * vote for somebody else counts only if its delegation is among them.
 */
export interface Counting {
  readonly directory: Directory;
  readonly now: number;
  readonly delegations?: readonly VoteDelegation[];
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
 * May this principal decide, if only to deny? The one place that answers it, for every way in. Everyone whom no
 * requirement allows is refused. An agent is always refused. Without logins, only the rule "requester" can be decided.
 * What is not known in `counting` is taken from what is stored: the groups as they were when the question was asked, the
 * escalations that people were told of; and nobody votes for somebody else.
 */
export function mayDecide(rule: Ruled, principal: Principal, counting: Partial<Counting> = {}): boolean {
  return votersFor(rule, principal, counting).some((voter) => counts(rule, voter, counting));
}

/** May this principal also approve? Not if they are one person with the requester, where that one may not. */
export function mayApprove(rule: Ruled, principal: Principal, counting: Partial<Counting> = {}): boolean {
  return votersFor(rule, principal, counting).some((voter) => approves(rule, voter, counting));
}

/**
 * May this principal decide at some time, now or after an escalation? As the groups were when the question was asked.
 */
export function mayEverDecide(
  rule: Ruled,
  principal: Principal,
  { now: _now, ...known }: Partial<Counting> = {},
): boolean {
  const requirements = rule.requirements.map(({ group: _group, ...people }) => people);
  const escalations = (rule.escalations ?? []).map(({ group: _group, ...one }) => ({
    ...one,
    reached: true,
  }));
  return mayDecide({ ...rule, requirements, escalations }, principal, known);
}

/** Somebody who votes: for themselves, or for whoever delegated to them. */
export interface Voter {
  readonly by: Principal;
  readonly through?: VoteDelegation;
}

/** May this principal approve for themselves? A delegation does not pass on what follows from that right, such as settling. */
export function mayApproveForSelf(rule: Ruled, by: Principal, counting: Partial<Counting> = {}): boolean {
  return approves(rule, { by }, counting);
}

function approves(rule: Ruled, voter: Voter, counting: Partial<Counting>): boolean {
  return rule.requirements.some((_, index) => matchIn(rule, index, voter, counting) !== undefined);
}

/**
 * Does this voter count for one of the requirements, at least to deny? No delegation takes that away: else a requester
 * could silence everybody who would deny, by delegating to them.
 */
export function counts(rule: Ruled, voter: Voter, counting: Partial<Counting>): boolean {
  const asked = (): boolean => personsIn(voter).some((one) => isRequester(rule, one, counting.directory));
  return rule.requirements.some((_, index) => match(rule, index, { voter, asked }, counting) !== undefined);
}

/** As whom this principal may try to vote; first as themselves. */
export function votersFor(rule: Ruled, by: Principal, counting: Partial<Counting>): readonly Voter[] {
  return [{ by }, ...delegatedTo(by, rule, counting).map((through) => ({ by, through }))];
}

/** Why somebody counts for a requirement: their name, or a role that a login claimed. */
export type MatchedBy = "name" | "role";

/**
 * By what an approval of this voter counts for the requirement with this index, or for those who may fill in for it by
 * now; undefined if not at all.
 */
export function matchIn(
  rule: Ruled,
  index: number,
  voter: Voter,
  counting: Partial<Counting> = {},
): MatchedBy | undefined {
  const asked = (): boolean => personsIn(voter).some((one) => isOneWithRequester(rule, one, counting));
  return match(rule, index, { voter, asked }, counting);
}

/** A voter, and whether they count as the requester. */
interface Judged {
  readonly voter: Voter;
  readonly asked: () => boolean;
}

function match(
  rule: Ruled,
  index: number,
  judged: Judged,
  counting: Partial<Counting>,
): MatchedBy | undefined {
  const requirement = rule.requirements[index];
  if (requirement === undefined) return undefined;
  const own = matchAmong(rule, requirement, judged, counting);
  if (own !== undefined) return own;
  for (const escalation of rule.escalations ?? []) {
    const fills = escalation.fills.includes(index) && isDue(escalation, counting);
    const people = fills ? fillingIn(escalation, requirement) : undefined;
    const found = people && matchAmong(rule, people, judged, counting);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isDue({ at, reached }: EscalatedTo, { now }: Partial<Counting>): boolean {
  return now === undefined ? reached : typeof at === "number" && at <= now;
}

/** The people who fill in, under the requirement's own condition. */
function fillingIn({ to, group }: EscalatedTo, { from, count }: Requirement): Requirement | undefined {
  if (to === "requester") return undefined;
  const apart = from !== "requester" && from.notRequester === true;
  const people = apart ? { ...to, notRequester: true } : to;
  return { from: people, count, ...(group === undefined ? {} : { group }) };
}

function matchAmong(
  rule: Ruled,
  requirement: Requirement,
  { voter, asked }: Judged,
  { directory }: Partial<Counting>,
): MatchedBy | undefined {
  const { from } = requirement;
  const { by } = voter;
  if (by.kind === "agent") return undefined;
  if (from === "requester") return confirmsOwn(rule, voter, directory) ? "name" : undefined;
  if (isAnybody(by) || isCode(by)) return undefined;
  const named = namedBy(voter);
  const then = matchedBy(from, named, asked);
  const members = membersNow(requirement, directory);
  if (then === undefined || members === undefined) return then;
  const now = matchedBy(members, named, asked);
  return now === undefined || then === "name" ? now : then;
}

/** What people confirm for themselves, nobody confirms for them. */
function confirmsOwn(rule: Ruled, { by, through }: Voter, directory: Directory | undefined): boolean {
  return through === undefined && (isVouched(by) || isRequester(rule, by, directory));
}

/** Whose vote it is. Of a delegator only the name is known: roles are claims of a login, and are not passed on. */
function namedBy({ by, through }: Voter): Principal {
  if (through === undefined) return by;
  return { id: through.from, kind: "token", roles: [], scopes: [], authenticated: false };
}

function personsIn(voter: Voter): readonly Principal[] {
  return voter.through === undefined ? [voter.by] : [voter.by, namedBy(voter)];
}

/** Did they ask, or does one of them and of those who asked vote for the other? */
function isOneWithRequester(rule: Ruled, one: Principal, counting: Partial<Counting>): boolean {
  if (isRequester(rule, one, counting.directory)) return true;
  const logins = [one.id, ...(one.onBehalfOf === undefined ? [] : [one.onBehalfOf])];
  return rule.requesters.some((asked) => logins.some((login) => areOne(login, asked, rule, counting)));
}

const NOBODY = {};

/** Who is in the requirement's group now; undefined if it has no group, or the group cannot be looked up. */
function membersNow(
  { group }: Requirement,
  directory: Directory | undefined,
): Exclude<Approvers, "requester"> | undefined {
  if (group === undefined || directory === undefined) return undefined;
  const members = directory.group(group) ?? NOBODY;
  return members === "requester" ? NOBODY : members;
}

/** Is this code of the host, and so nobody whom a rule can name? */
export function isCode({ kind }: Principal): boolean {
  return kind === "provider" || kind === "author";
}

function matchedBy(
  { roles = [], users = [], notRequester = false }: Exclude<Approvers, "requester">,
  principal: Principal,
  asked: () => boolean,
): MatchedBy | undefined {
  if (notRequester && asked()) return undefined;
  if (users.includes(principal.id)) return "name";
  if (principal.roles.some((role) => roles.includes(role))) return "role";
  // "Anyone but the requester" still needs a known person.
  return notRequester && roles.length === 0 && users.length === 0 && principal.authenticated
    ? "name"
    : undefined;
}

/** Whose vote this is: the person behind the login, or behind the login that a service acts for. */
export function personOf(
  { id, onBehalfOf }: Pick<Principal, "id" | "onBehalfOf">,
  directory: Pick<Directory, "person">,
): string {
  return directory.person(onBehalfOf ?? id);
}

/** Did this person, or the person they act for, ask for the call? */
export function isRequester(
  rule: Pick<Ruled, "requesters">,
  { id, onBehalfOf }: Principal,
  directory?: Directory,
): boolean {
  const person = (login: string): string => directory?.person(login) ?? login;
  const asked = new Set(rule.requesters.flatMap((login) => [login, person(login)]));
  return [id, ...(onBehalfOf === undefined ? [] : [onBehalfOf])].some(
    (login) => asked.has(login) || asked.has(person(login)),
  );
}

/** May this principal withdraw the question? The requester may, and everyone who could deny it for themselves. */
export function mayWithdraw(rule: Ruled, principal: Principal, counting: Partial<Counting> = {}): boolean {
  if (principal.kind === "agent") return false;
  return isRequester(rule, principal, counting.directory) || counts(rule, { by: principal }, counting);
}
