import type { PolicyCall, PolicyVerdict } from "../engine/index.ts";
import { type CallFacts, type FactPaths, factPaths, type ReadFacts } from "./call-facts.ts";
import type { Expression } from "./conditions/expression.ts";
import { hintFor } from "./hint.ts";
import type { PolicyRule, RuleAsking } from "./policy-rule.ts";

/** A rule, with everything in its verdict that is the same for every call. */
export interface ReadyRule {
  readonly rule: PolicyRule;
  readonly verdict: PolicyVerdict;
  readonly reads: FactPaths;
  /** Nothing in its verdict depends on the call, but for the facts and for a condition that cannot be judged. */
  readonly isFixed: boolean;
}

export function toReadyRule(rule: PolicyRule): ReadyRule {
  const { id, outcome, reason, observe, when, unless, asking } = rule;
  return {
    rule,
    verdict: {
      rule: id,
      outcome,
      reason: reason === undefined ? `policy rule ${id}` : `policy rule ${id}: ${reason}`,
      ...(observe ? { observe } : {}),
      ...(outcome === "confirm" ? termsOf(asking) : {}),
    },
    reads: factPaths([...(when?.reads ?? []), ...(unless?.reads ?? [])]),
    isFixed: outcome !== "confirm" || isFixed(asking),
  };
}

function isFixed({ hint, grants, byMail }: RuleAsking): boolean {
  return hint === undefined && grants === undefined && byMail === undefined;
}

function termsOf({
  require,
  escalate,
  hint: _hint,
  grants: _grants,
  grantsIf: _grantsIf,
  byMail: _byMail,
  ...terms
}: RuleAsking): Partial<PolicyVerdict> {
  return {
    ...terms,
    ...(require.length === 0 ? {} : { requirements: require }),
    ...(escalate === undefined
      ? {}
      : { escalate: escalate.map(({ from, ...step }) => ({ ...step, to: from })) }),
  };
}

/** The call that is judged, and what rules see of it. */
export interface JudgedCall {
  readonly call: PolicyCall;
  readonly facts: CallFacts;
  /** Only what applies is recorded, so it is made when it is needed. */
  readonly readFacts: () => ReadFacts;
}

/** What a rule that is about the call says about it; undefined if its conditions do not hold. */
export function verdictOf(
  { rule, verdict, reads, isFixed: fixed }: ReadyRule,
  judged: JudgedCall,
): PolicyVerdict | undefined {
  const applied = appliesTo(rule, judged.facts);
  if (applied === undefined) return undefined;
  const seen = reads.paths.length === 0 ? verdict : { ...verdict, facts: judged.readFacts().at(reads) };
  if (fixed && applied.failure === undefined) return seen;
  const reason = reasonOf(verdict, applied);
  if (rule.outcome !== "confirm") return { ...seen, ...reason };
  return { ...seen, ...reason, ...offered(rule.asking, judged.call, applied) };
}

function reasonOf({ reason }: PolicyVerdict, { failure }: Applied): Partial<PolicyVerdict> {
  return failure === undefined ? {} : { reason: `${reason} (it could not be evaluated: ${failure})` };
}

/** What depends on the call. */
function offered(
  { hint, grants, grantsIf, byMail }: RuleAsking,
  call: PolicyCall,
  { failure }: Applied,
): Partial<PolicyVerdict> {
  const shown = hint === undefined ? {} : { hint: hintFor(hint, call) };
  // A rule that could not be judged asks a person every time, and needs a login.
  if (failure !== undefined) return shown;
  // So does one whose grants are for other arguments.
  const isOffered = grantsIf === undefined || outcomeOf(grantsIf, { args: call.shown }) === true;
  return {
    ...shown,
    ...(grants === undefined || !isOffered ? {} : { grants }),
    ...(byMail === undefined ? {} : { byMail }),
  };
}

/** A rule that applies. */
interface Applied {
  /** Why a condition could not be judged. */
  readonly failure?: string;
}

const APPLIES: Applied = {};

// A condition that fails makes a rule that restricts apply, and one that allows not apply.
function appliesTo({ outcome, when, unless }: PolicyRule, facts: CallFacts): Applied | undefined {
  const met = when === undefined ? true : outcomeOf(when, facts);
  if (met === false) return undefined;
  const excepted = unless === undefined ? false : outcomeOf(unless, facts);
  if (excepted === true) return undefined;
  if (met === true && excepted === false) return APPLIES;
  if (outcome === "allow") return undefined;
  return { failure: String(met === true ? excepted : met) };
}

const LONGEST_FAILURE = 200;

/** Does the condition hold? If it cannot be judged: why. */
function outcomeOf(condition: Expression, facts: Partial<CallFacts>): boolean | string {
  try {
    return condition.holds(facts);
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_FAILURE).toWellFormed();
  }
}
