import type { JsonObject } from "../../protocol/index.ts";
import { errorText } from "../common/index.ts";
import { flawOfLimits } from "../grants/index.ts";
import type { AppliedRule, PolicyNote } from "../ledger/index.ts";
import { oneApproval } from "../people/index.ts";
import { type AskingOptions, checkAsking } from "./asking-options.ts";
import type { Policy, PolicyCall, PolicySource, PolicyVerdict } from "./policy.ts";
import type { Verdict } from "./verdict.ts";

/** What one policy says about a call. */
export interface PolicyOpinion {
  readonly verdicts: readonly Verdict[];
  /** For the record; undefined if no rule applied. */
  readonly note?: PolicyNote;
  /** The text to store under the note's version. */
  readonly text?: string;
}

const OUTCOMES: ReadonlySet<unknown> = new Set<PolicyVerdict["outcome"]>(["allow", "confirm", "deny"]);
const SILENT: PolicyOpinion = { verdicts: [] };
const NOTHING: readonly PolicyVerdict[] = [];

/**
 * What a policy says about a call. If it throws, or returns something that is no verdict (a promise, a misspelt
 * outcome), that counts as `otherwise`.
 */
export function opinionOf(
  policy: Policy | PolicySource,
  call: PolicyCall,
  otherwise: "confirm" | "deny",
): PolicyOpinion {
  const source = typeof policy === "function" ? undefined : policy;
  // Read together: the file may be read again at any await.
  const given = verdictsOf(policy, call, otherwise);
  const { version, text } = source ?? {};
  if (given.length === 0) return SILENT;
  return {
    verdicts: given.filter(({ observe }) => observe !== true).map(toVerdict),
    note: { ...(version === undefined ? {} : { version }), rules: given.map(toApplied) },
    ...(text === undefined ? {} : { text }),
  };
}

/** The reason of a policy that denies the call, if it does. One that throws denies. */
export function denialBy(policy: Policy | PolicySource, call: PolicyCall): string | undefined {
  const given = verdictsOf(policy, call, "deny");
  return given.find(({ outcome, observe }) => outcome === "deny" && observe !== true)?.reason;
}

function verdictsOf(
  policy: Policy | PolicySource,
  call: PolicyCall,
  otherwise: "confirm" | "deny",
): readonly PolicyVerdict[] {
  try {
    const said = typeof policy === "function" ? policy(call) : policy.judge(call);
    if (said === undefined) return NOTHING;
    const all: readonly PolicyVerdict[] = Array.isArray(said) ? said : [said];
    return all.map((verdict) => checked(verdict, otherwise));
  } catch {
    return [{ outcome: otherwise, reason: "a policy rule failed" }];
  }
}

function checked(verdict: PolicyVerdict, otherwise: "confirm" | "deny"): PolicyVerdict {
  const { outcome, reason } = verdict;
  // A rule that is only recorded has no effect, whatever is wrong with it.
  const seen = verdict.observe === true ? { observe: true } : {};
  if (!OUTCOMES.has(outcome)) return { outcome: otherwise, reason: "a policy rule gave no verdict", ...seen };
  const why = typeof reason === "string" ? reason : "a policy rule";
  const flaw = outcome === "confirm" && otherwise === "confirm" ? flawOf(verdict, why) : undefined;
  if (flaw !== undefined) return { outcome: "deny", reason: flaw, ...seen };
  return why === reason ? verdict : { ...verdict, reason: why };
}

/** Without terms, none can be odd, and none is to be added up. One by one: this runs for every call. */
function isBare(verdict: PolicyVerdict): boolean {
  return (
    verdict.approvers === undefined &&
    verdict.requirements === undefined &&
    verdict.escalate === undefined &&
    verdict.denials === undefined &&
    verdict.expiresInMs === undefined &&
    verdict.amendable === undefined &&
    verdict.grants === undefined &&
    verdict.notify === undefined &&
    verdict.notRequester === undefined &&
    verdict.remindAfterMs === undefined &&
    verdict.hint === undefined &&
    verdict.byMail === undefined
  );
}

// Other approvers would be people whom the rule did not name, and without approvers the card would wait forever.
function flawOf(verdict: PolicyVerdict, rule: string): string | undefined {
  if (isBare(verdict)) return undefined;
  const what = `The policy rule "${rule}"`;
  const { requirements = [], escalate = [], denials = 1 } = verdict;
  try {
    const odd = oddTerm(verdict);
    if (odd !== undefined) return `${what} has ${odd}.`;
    checkAsking(what, askingIn(verdict));
    for (const { from } of requirements) checkAsking(what, { approvers: from });
    for (const { to } of escalate) checkAsking(what, { approvers: to });
    const counts = [
      denials,
      ...requirements.map(({ count }) => count),
      ...escalate.map(({ afterMs }) => afterMs),
    ];
    if (counts.every((count) => Number.isSafeInteger(count) && count > 0)) return undefined;
    return `${what} has a count or a time that is not a whole number, 1 or more.`;
  } catch (error) {
    return errorText(error);
  }
}

function askingIn({ approvers, expiresInMs, amendable }: PolicyVerdict): AskingOptions {
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
    ...(amendable === undefined ? {} : { amendable }),
  };
}

// A policy may be plain JavaScript.
function oddTerm({ grants, notify }: PolicyVerdict): string | undefined {
  const odd = grants === undefined ? undefined : flawOfLimits(grants);
  if (odd !== undefined) return `invalid grants: ${odd}`;
  const given: unknown = notify ?? [];
  const isNames = Array.isArray(given) && given.every((name) => typeof name === "string");
  return isNames ? undefined : "a `notify` that is not a list of names of channels";
}

function toVerdict(verdict: PolicyVerdict): Verdict {
  const { outcome, reason: why, rule } = verdict;
  if (isBare(verdict)) return { source: "policy", outcome, why, ...(rule === undefined ? {} : { rule }) };
  const {
    outcome: _outcome,
    reason: _reason,
    approvers,
    requirements,
    rule: _rule,
    facts: _facts,
    observe: _observe,
    ...terms
  } = verdict;
  const required = [...(approvers === undefined ? [] : oneApproval(approvers)), ...(requirements ?? [])];
  return {
    ...terms,
    source: "policy",
    outcome,
    why,
    ...(rule === undefined ? {} : { rule }),
    ...(required.length === 0 ? {} : { requirements: required }),
  };
}

function toApplied({ rule, outcome, reason, facts, observe }: PolicyVerdict): AppliedRule {
  const seen: { readonly facts?: JsonObject } = facts === undefined ? {} : { facts };
  return {
    ...(rule === undefined ? { reason } : { rule }),
    outcome,
    ...seen,
    ...(observe === true ? { observe } : {}),
  };
}
