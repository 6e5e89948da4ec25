import { member } from "../../protocol/index.ts";
import { sameJson } from "../common/index.ts";
import {
  type CallRecord,
  type Draft,
  type GrantLimits,
  type GrantRecord,
  isShared,
  type StoredGrantUse,
} from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { Requirement } from "../people/index.ts";
import { amountOf, amountText, isMore, plus, readSum } from "./amount.ts";
import { unmetBy } from "./conditions.ts";
import { changeGrant, grantIsGenuine } from "./grant-mac.ts";
import { isWithin } from "./limits.ts";
import { givers } from "./mint.ts";
import { notApproved } from "./not-approved.ts";
import { addShared, relyOnNoQuestion, tellOfQuestion } from "./shared.ts";
import { waitsElsewhere, waitsInSession } from "./waits.ts";

/** A call that a person would be asked about now, and what they would be asked. */
export interface GrantedCall {
  readonly call: Pick<
    CallRecord,
    "id" | "session" | "app" | "agent" | "tool" | "args" | "unparsed" | "secrets" | "definitionDigest"
  >;
  readonly question: {
    readonly requirements: readonly Requirement[];
    readonly requesters: readonly string[];
    /** The most that the rules that ask now let people grant. */
    readonly grants?: GrantLimits;
    /** With `grants`: the rules and gates that ask now. */
    readonly askedBy?: readonly string[];
  };
}

type Spent = GrantRecord["spent"];

/**
 * Lets a call run under a grant, if one covers it, and counts the use in this commit: it is refused if the grant has
 * changed since, or has ended. Grants across sessions are read only where the rules that ask allow them. Undefined if no
 * grant covers the call: then a person is asked. Both are journalled.
 */
export async function useGrant(
  parts: EngineParts,
  draft: Draft,
  asked: GrantedCall,
): Promise<StoredGrantUse | undefined> {
  const { call, question } = asked;
  const shared = isShared(question.grants)
    ? await addShared(parts, draft, { ...call, requesters: question.requesters })
    : undefined;
  const live = draft.grants.filter(
    ({ tool, revoked, endsAt }) => tool === call.tool && revoked === undefined && endsAt > draft.now,
  );
  const waits = waiting(parts, asked);
  const refused: { readonly grant: string; readonly reason: string }[] = [];
  for (const grant of live) {
    const reason = await waits(grant);
    const judged =
      reason === undefined
        ? judgeUse(parts, grant, { ...asked, now: draft.now })
        : ({ ok: false, reason } as const);
    if (judged.ok) {
      if (shared !== undefined && isShared(grant.limits)) relyOnNoQuestion(draft, shared);
      return writeUse(parts, draft, { grant, call, ...judged });
    }
    refused.push({ grant: grant.id, reason: judged.reason });
  }
  if (shared !== undefined) tellOfQuestion(draft, shared);
  if (refused.length > 0) draft.journal("grant-refused", { call: call.id, tool: call.tool, refused });
  return undefined;
}

const WAITS = "a person has still to decide on the same call of";

/** Why no grant, or none across sessions, lets the call run now. Each is looked for once, and only if needed. */
function waiting(
  parts: EngineParts,
  { call, question }: GrantedCall,
): (grant: GrantRecord) => Promise<string | undefined> {
  let here: Promise<boolean> | undefined;
  let elsewhere: Promise<boolean> | undefined;
  return async ({ limits }) => {
    here ??= waitsInSession(parts, call);
    if (await here) return `${WAITS} this session`;
    if (!isShared(limits)) return undefined;
    elsewhere ??= waitsElsewhere(parts, call, question.requesters.at(-1) ?? "");
    return (await elsewhere) ? `${WAITS} another session` : undefined;
  };
}

function writeUse(
  parts: EngineParts,
  draft: Draft,
  {
    grant,
    call,
    spent,
    took,
  }: { readonly grant: GrantRecord; readonly spent: Spent; readonly took: Spent } & Pick<GrantedCall, "call">,
): StoredGrantUse {
  const uses = grant.uses + 1;
  // What is counted must be on disk before the call starts, also where the call may be repeated.
  changeGrant(parts, draft, { ...grant, uses, spent, ahead: true });
  const by = givers(grant);
  draft.journal("grant-used", { grant: grant.id, call: call.id, tool: call.tool, by, uses, spent });
  const { id, requirements, requesters, escalations } = grant;
  return {
    id,
    by,
    took,
    ...(isShared(grant.limits) ? { scope: "user" as const } : {}),
    requirements,
    requesters,
    ...(escalations === undefined ? {} : { escalations }),
  };
}

type UseJudged =
  | { readonly ok: true; readonly spent: Spent; readonly took: Spent }
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
      unmetBy(parts, grant.limits, call) ??
      notApproved(parts, grant, now) ??
      (grant.uses < grant.limits.count ? undefined : `all ${grant.limits.count} uses are used up`))
    : "it has no valid signature";
  return reason === undefined ? judgeSums(grant, call) : { ok: false, reason };
}

/** Why the grant is not about this call. */
function foreignTo(grant: GrantRecord, { call, question }: GrantedCall): string | undefined {
  if (isShared(grant.limits) ? grant.app !== call.app : grant.session !== call.session)
    return `it belongs to another ${isShared(grant.limits) ? "app" : "session"}`;
  if (grant.agent !== call.agent) return `it is for the agent ${grant.agent}`;
  if (grant.definitionDigest !== call.definitionDigest) return "the tool has changed since it was given";
  const asked = new Set(question.requesters);
  const same = asked.size === new Set(grant.requesters).size && grant.requesters.every((id) => asked.has(id));
  return same ? undefined : "somebody else asked for this call";
}

/** Why the grant does not meet what the rules ask for now. */
function uncovered(
  { limits, requirements, askedBy }: GrantRecord,
  question: GrantedCall["question"],
): string | undefined {
  if (question.grants === undefined) return "the rules that ask for this call allow no grant";
  if (!isWithin(limits, question.grants)) return "it goes further than the rules for this call allow";
  const met = question.requirements.every(({ count, ...who }) =>
    requirements.some(
      ({ count: approved, ...people }) => approved >= count && sameJson({ ...people }, { ...who }),
    ),
  );
  if (!met) return "this call needs approvals that the grant does not have";
  const { askedBy: asking = [] } = question;
  const known = asking.length > 0 && asking.every((one) => askedBy.includes(one));
  return known ? undefined : "something asks for this call that did not ask when the grant was given";
}

/** What the grant has spent with this call, and what of it is this call's; or why it has not enough left. */
function judgeSums({ limits, spent }: GrantRecord, { args, unparsed }: GrantedCall["call"]): UseJudged {
  // Not an object: an argument may be called `__proto__`.
  const sums = new Map<string, string>();
  const taken = new Map<string, string>();
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
    taken.set(argument, amountText(amount));
  }
  return { ok: true, spent: Object.fromEntries(sums), took: Object.fromEntries(taken) };
}

function odd(argument: string, what: string): UseJudged {
  return { ok: false, reason: `the argument ${argument} ${what}` };
}
