import { describe, expect, test } from "vitest";
import { type Policy, type PolicyCall, verdictOf } from "./policy.ts";

const call: PolicyCall = {
  entryPoint: "runner",
  app: "a",
  agent: "a",
  tool: "pay",
  args: {},
  user: "ana",
  requesters: ["ana"],
  session: "s",
  state: {},
  at: 0,
};

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
  expect(verdict?.reason).toContain(
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
  expect(verdictOf(undefined, call, "confirm")).toBeUndefined();
  expect(verdictOf(() => undefined, call, "deny")).toBeUndefined();
});

test("a verdict without a reason still has one", () => {
  const rule = (() => ({ outcome: "deny" })) as unknown as Policy;
  expect(verdictOf(rule, call, "confirm")).toEqual({ outcome: "deny", reason: "a policy rule" });
});
