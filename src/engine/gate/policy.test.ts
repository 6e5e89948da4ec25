import { describe, expect, test } from "vitest";
import type { Policy, PolicyCall, PolicySource } from "./policy.ts";
import { denialBy, opinionOf } from "./policy-verdicts.ts";

const call: PolicyCall = {
  entryPoint: "runner",
  app: "a",
  agent: "a",
  tool: "pay",
  args: {},
  shown: {},
  user: "ana",
  requesters: ["ana"],
  roles: [],
  authenticated: false,
  session: "s",
  state: {},
  at: 0,
};

const verdictOf = (policy: Policy, about: PolicyCall, otherwise: "confirm" | "deny") =>
  opinionOf(policy, about, otherwise).verdicts[0];

/** Rules as somebody without a compiler may write them. */
const UNREADABLE: readonly [string, () => unknown][] = [
  ["throws", () => structuredClone(() => {})],
  ["answers with a promise", async () => ({ outcome: "deny", reason: "no" })],
  ["misspells its outcome", () => ({ outcome: "denied", reason: "no" })],
  ["answers with false", () => false],
  ["answers with null", () => null],
  ["answers with a word", () => "deny"],
];

describe("a rule that gives no verdict has permitted nothing", () => {
  test.each(UNREADABLE)("one that %s", (_, rule) => {
    expect(verdictOf(rule as Policy, call, "confirm")?.outcome).toBe("confirm");
    expect(verdictOf(rule as Policy, call, "deny")?.outcome).toBe("deny");
  });
});

test.each<[string, unknown]>([
  ["misspelt", { anyOff: ["boss"] }],
  ["a name that is no rule", "boss"],
  ["no list", { roles: "boss" }],
  ["nobody", { users: [] }],
  ["null", null],
])("a rule that asks people whom nobody can be asks nobody, and says why: %s", (_, approvers) => {
  const rule = (() => ({ outcome: "confirm", reason: "money", approvers })) as unknown as Policy;
  const verdict = verdictOf(rule, call, "confirm");
  expect(verdict?.outcome).toBe("deny");
  expect(verdict?.why).toContain(
    `The policy rule "money" has an invalid approvers: ${JSON.stringify(approvers)}.`,
  );
  // What was approved by whom the rule did admit then is not its business any more.
  expect(verdictOf(rule, call, "deny")?.outcome).toBe("confirm");
});

test("approvers are looked at only where somebody is asked", () => {
  const rule = (() => ({ outcome: "allow", reason: "small", approvers: {} })) as unknown as Policy;
  expect(verdictOf(rule, call, "confirm")?.outcome).toBe("allow");
});

test("no rules, and rules that say nothing, leave the call to the others", () => {
  expect(opinionOf(() => [], call, "confirm")).toEqual({ verdicts: [] });
  expect(verdictOf(() => undefined, call, "deny")).toBeUndefined();
});

test("a verdict without a reason still has one", () => {
  const rule = (() => ({ outcome: "deny" })) as unknown as Policy;
  expect(verdictOf(rule, call, "confirm")).toEqual({
    source: "policy",
    outcome: "deny",
    why: "a policy rule",
  });
});

test("every verdict of a policy counts, and one that is no verdict does not hide the others", () => {
  const rule = (() => [
    { outcome: "allow", reason: "a" },
    { outcome: "nope" },
    { outcome: "deny", reason: "c" },
  ]) as unknown as Policy;
  expect(opinionOf(rule, call, "confirm").verdicts.map(({ outcome }) => outcome)).toEqual([
    "allow",
    "confirm",
    "deny",
  ]);
});

test.each<[string, object]>([
  ["a count of none", { requirements: [{ from: { users: ["a"] }, count: 0 }] }],
  ["a requirement of nobody", { requirements: [{ from: { users: [] }, count: 1 }] }],
  ["half a denial", { denials: 0.5 }],
  ["an escalation to nobody", { escalate: [{ afterMs: 1, to: {} }] }],
  ["an escalation at once", { escalate: [{ afterMs: 0, to: { users: ["a"] } }] }],
  ["no time to answer", { expiresInMs: 0 }],
])("impossible terms deny: %s", (_, terms) => {
  const rule = (() => ({ outcome: "confirm", reason: "money", ...terms })) as unknown as Policy;
  expect(verdictOf(rule, call, "confirm")?.outcome).toBe("deny");
});

test("a rule that observes says nothing, and is noted with the policy's version", () => {
  const source: PolicySource = {
    judge: () => [{ rule: "watch", outcome: "deny", reason: "x", observe: true, facts: { "args.a": 1 } }],
    version: "v7",
    text: "the text",
    group: () => undefined,
    person: (id) => id,
  };
  expect(opinionOf(source, call, "confirm")).toEqual({
    verdicts: [],
    note: {
      version: "v7",
      rules: [{ rule: "watch", outcome: "deny", facts: { "args.a": 1 }, observe: true }],
    },
    text: "the text",
  });
});

test.each<[string, object]>([
  ["impossible terms", { outcome: "confirm", reason: "x", denials: 0.5 }],
  ["no outcome", { reason: "x" }],
])("a rule that observes and has %s changes nothing either", (_, verdict) => {
  const rule = (() => [{ ...verdict, observe: true }]) as unknown as Policy;
  for (const otherwise of ["confirm", "deny"] as const) {
    const { verdicts, note } = opinionOf(rule, call, otherwise);
    expect(verdicts).toEqual([]);
    expect(note?.rules).toMatchObject([{ observe: true }]);
    expect(denialBy(rule, call)).toBeUndefined();
  }
});
