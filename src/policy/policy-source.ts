import type { PolicySource, PolicyVerdict } from "../engine/index.ts";
import { factsOf, ReadFacts } from "./call-facts.ts";
import { argsCondition } from "./conditions/args-condition.ts";
import { countLoops, resetLoops } from "./conditions/strict-values.ts";
import type { PolicyPeople } from "./groups.ts";
import type { TimeZone } from "./local-time.ts";
import type { PolicyRule } from "./policy-rule.ts";
import { RuleIndex } from "./rule-index.ts";
import { verdictOf } from "./rule-verdict.ts";

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
      let read: ReadFacts | undefined;
      const readFacts = (): ReadFacts => {
        read ??= new ReadFacts(call, facts);
        return read;
      };
      const judged = { call, facts, readFacts };
      const verdicts: PolicyVerdict[] = [];
      for (const ready of index.about(call, facts)) {
        countLoops(ready.rule);
        const verdict = verdictOf(ready, judged);
        if (verdict !== undefined) verdicts.push(verdict);
      }
      return verdicts;
    },
    group: (name) => groups.get(name),
    person: (id) => persons.get(id) ?? id,
    condition: argsCondition,
    readsState: file.rules.some(readsState),
    logins: (id) => logins.get(persons.get(id)) ?? [id],
    ...(voteMaxAgeMs === undefined ? {} : { voteMaxAgeMs }),
  };
}

function readsState({ when, unless }: PolicyRule): boolean {
  return [when, unless].some((condition) => condition?.reads.some(([variable]) => variable === "state"));
}
