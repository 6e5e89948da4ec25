import { member } from "../../protocol/index.ts";
import { sameJson } from "../common/index.ts";
import type { CallRecord, Draft, GrantLimits, GrantRecord, GrantUse } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import { type Requirement, tally } from "../people/index.ts";
import { amountOf, amountText, isMore, plus, readSum } from "./amount.ts";
import { grantIsGenuine, signedGrant } from "./grant-mac.ts";
import { isWithin } from "./limits.ts";
import { givers } from "./mint.ts";

/** A call that a person would be asked about now, and what they would be asked. */
export interface GrantedCall {
  readonly call: Pick<
    CallRecord,
    "id" | "session" | "agent" | "tool" | "args" | "unparsed" | "definitionDigest"
  >;
  readonly question: {
    readonly requirements: readonly Requirement[];
    readonly requesters: readonly string[];
    /** The most that the rules that ask now let people grant. */
    readonly grants?: GrantLimits;
  };
}

type Spent = GrantRecord["spent"];

/**
 * Lets a call run under a grant of its session, if one covers it, and counts the use in this commit: it is refused if
 * the session has changed since, or the grant has ended. Undefined if none does: then a person is asked. Both are
 * journalled.
 */
export function useGrant(parts: EngineParts, draft: Draft, asked: GrantedCall): GrantUse | undefined {
  const { call } = asked;
  const live = draft.grants.filter(
    ({ tool, revoked, endsAt }) => tool === call.tool && revoked === undefined && endsAt > draft.now,
  );
  const refused: { readonly grant: string; readonly reason: string }[] = [];
  for (const grant of live) {
    const judged = judgeUse(parts, grant, { ...asked, now: draft.now });
    if (judged.ok) return writeUse(parts, draft, { grant, call, spent: judged.spent });
    refused.push({ grant: grant.id, reason: judged.reason });
  }
  if (refused.length > 0) draft.journal("grant-refused", { call: call.id, tool: call.tool, refused });
  return undefined;
}

function writeUse(
  parts: EngineParts,
  draft: Draft,
  { grant, call, spent }: { readonly grant: GrantRecord; readonly spent: Spent } & Pick<GrantedCall, "call">,
): GrantUse {
  const uses = grant.uses + 1;
  const after = signedGrant(parts, { ...grant, uses, spent, revision: grant.revision + 1 });
  // What is counted must be on disk before the call starts, also where the call may be repeated.
  draft.sync().putGrant(after, { ahead: true });
  const by = givers(grant);
  draft.journal("grant-used", { grant: grant.id, call: call.id, tool: call.tool, by, uses, spent });
  return { id: grant.id, by };
}

type UseJudged =
  | { readonly ok: true; readonly spent: Spent }
  | { readonly ok: false; readonly reason: string };

function judgeUse(
  parts: EngineParts,
  grant: GrantRecord,
  asked: GrantedCall & { readonly now: number },
): UseJudged {
  const { call, question, now } = asked;
  const reason = grantIsGenuine(parts, grant)
    ? (foreignTo(grant, asked) ??
      uncovered(grant, question) ??
      notApproved(parts, grant, now) ??
      (grant.uses < grant.limits.count ? undefined : `all ${grant.limits.count} uses are used up`))
    : "it has no valid signature";
  return reason === undefined ? judgeSums(grant, call) : { ok: false, reason };
}

/** Why the grant is not about this call. */
function foreignTo(grant: GrantRecord, { call, question }: GrantedCall): string | undefined {
  if (grant.session !== call.session) return "it belongs to another session";
  if (grant.agent !== call.agent) return `it is for the agent ${grant.agent}`;
  if (grant.definitionDigest !== call.definitionDigest) return "the tool has changed since it was given";
  const asked = new Set(question.requesters);
  const same = asked.size === new Set(grant.requesters).size && grant.requesters.every((id) => asked.has(id));
  return same ? undefined : "somebody else asked for this call";
}

/** Why the grant does not meet what the rules ask for now. */
function uncovered(
  { limits, requirements }: GrantRecord,
  question: GrantedCall["question"],
): string | undefined {
  if (question.grants === undefined) return "what asks for this call allows no grant";
  if (!isWithin(limits, question.grants)) return "it goes further than the rules for this call allow";
  const met = question.requirements.every(({ count, ...who }) =>
    requirements.some(
      ({ count: approved, ...people }) => approved >= count && sameJson({ ...people }, { ...who }),
    ),
  );
  return met ? undefined : "this call needs approvals that the grant does not have";
}

/** Why the approvals behind the grant no longer count: somebody left a group, or a role has lapsed. */
function notApproved(
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

/** What the grant has spent with this call, or why it has not enough left. */
function judgeSums({ limits, spent }: GrantRecord, { args, unparsed }: GrantedCall["call"]): UseJudged {
  // Not an object: an argument may be called `__proto__`.
  const sums = new Map<string, string>();
  for (const [argument, most] of Object.entries(limits.sum ?? {})) {
    // What the function gets is not what is stored here, so the amount is not known.
    const amount = unparsed ? undefined : amountOf(member(args, argument));
    const [before, limit] = [readSum(member(spent, argument) ?? "0"), amountOf(most)];
    if (amount === undefined) return odd(argument, "is not a plain number, 0 or more");
    if (before === undefined || limit === undefined) return odd(argument, "cannot be added up");
    const after = plus(before, amount);
    if (isMore(after, limit))
      return odd(argument, `would add up to ${amountText(after)}; the most is ${most}`);
    sums.set(argument, amountText(after));
  }
  return { ok: true, spent: Object.fromEntries(sums) };
}

function odd(argument: string, what: string): UseJudged {
  return { ok: false, reason: `the argument ${argument} ${what}` };
}
