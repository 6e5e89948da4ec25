import type { PolicyCall, PolicySource, PolicyVerdict } from "../engine/index.ts";
import { argsCondition } from "./args-condition.ts";
import { type CallFacts, factsOf, readFacts } from "./call-facts.ts";
import type { Expression } from "./expression.ts";
import { resetLoops } from "./expression-functions.ts";
import type { PolicyPeople } from "./groups.ts";
import { hintFor } from "./hint.ts";
import type { TimeZone } from "./local-time.ts";
import type { PolicyRule, RuleAsking } from "./policy-rule.ts";
import { RuleIndex } from "./rule-index.ts";

/** A policy file as it was read. */
export interface PolicyFile extends PolicyPeople {
  readonly rules: readonly PolicyRule[];
  readonly zone: TimeZone;
  readonly voteMaxAgeMs?: number;
  /** The file as canonical JSON. */
  readonly text: string;
  /** Digest of the text. */
  readonly version: string;
}

/** The policy that an engine or a Runner takes. */
export function toPolicySource(file: PolicyFile): PolicySource {
  const { version, text, groups, persons, zone, voteMaxAgeMs } = file;
  const index = new RuleIndex(file.rules);
  const logins = Map.groupBy(persons.keys(), (login) => persons.get(login));
  return {
    version,
    text,
    judge: (call) => {
      resetLoops();
      const facts = factsOf(call, zone);
      return index.about(call).flatMap((rule) => verdictOf(rule, call, facts) ?? []);
    },
    group: (name) => groups.get(name),
    person: (id) => persons.get(id) ?? id,
    condition: argsCondition,
    logins: (id) => logins.get(persons.get(id)) ?? [id],
    ...(voteMaxAgeMs === undefined ? {} : { voteMaxAgeMs }),
  };
}

function verdictOf(rule: PolicyRule, call: PolicyCall, facts: CallFacts): PolicyVerdict | undefined {
  const applied = appliesTo(rule, facts);
  if (!applied.applies) return undefined;
  const { id, outcome, observe, when, unless } = rule;
  const reads = [...(when?.reads ?? []), ...(unless?.reads ?? [])];
  return {
    rule: id,
    outcome,
    reason: reasonOf(rule, applied.failure),
    ...(reads.length === 0 ? {} : { facts: readFacts(call, facts, reads) }),
    ...(observe ? { observe } : {}),
    ...(outcome === "confirm" ? askedBy(rule.asking, call, applied) : {}),
  };
}

function reasonOf({ id, reason }: PolicyRule, failure: string | undefined): string {
  const told = reason === undefined ? `policy rule ${id}` : `policy rule ${id}: ${reason}`;
  return failure === undefined ? told : `${told} (it could not be evaluated: ${failure})`;
}

function askedBy(
  { require, hint, ...asking }: RuleAsking,
  call: PolicyCall,
  { failure }: Applied,
): Partial<PolicyVerdict> {
  const { escalate, grants, grantsIf, byMail, ...rest } = asking;
  const isOffered =
    failure === undefined && (grantsIf === undefined || judged(grantsIf, { args: call.shown }).held === true);
  return {
    ...rest,
    ...(require.length === 0 ? {} : { requirements: require }),
    ...(escalate === undefined
      ? {}
      : { escalate: escalate.map(({ from, ...step }) => ({ ...step, to: from })) }),
    ...(hint === undefined ? {} : { hint: hintFor(hint, call) }),
    // A rule that could not be judged asks a person every time, and so does one whose grants are for other arguments.
    ...(grants === undefined || !isOffered ? {} : { grants }),
    // A rule that could not be judged needs a login, too.
    ...(byMail === undefined || failure !== undefined ? {} : { byMail }),
  };
}

interface Applied {
  readonly applies: boolean;
  /** Why a condition could not be judged. */
  readonly failure?: string;
}

// A condition that fails makes a rule that restricts apply, and one that allows not apply.
function appliesTo({ outcome, when, unless }: PolicyRule, facts: CallFacts): Applied {
  const met = when === undefined ? { held: true } : judged(when, facts);
  const excepted = unless === undefined ? { held: false } : judged(unless, facts);
  if (outcome === "allow") return { applies: met.held === true && excepted.held === false };
  const applies = met.held !== false && excepted.held !== true;
  const failure = met.failure ?? excepted.failure;
  return { applies, ...(failure === undefined ? {} : { failure }) };
}

interface Judged {
  /** Undefined if it could not be judged. */
  readonly held?: boolean;
  readonly failure?: string;
}

const LONGEST_FAILURE = 200;

function judged(condition: Expression, facts: Partial<CallFacts>): Judged {
  try {
    return { held: condition.holds(facts) };
  } catch (error) {
    const { summary, message = "" } = error as { readonly summary?: string; readonly message?: string };
    return { failure: (summary ?? message).slice(0, LONGEST_FAILURE) };
  }
}
