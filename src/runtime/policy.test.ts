import { describe, expect, test } from "vitest";
import { type Policy, verdictOf } from "./policy.ts";

const call = { app: "a", agent: "a", tool: "pay", args: {}, user: "ana" };

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

test("no rules, and rules that say nothing, leave the call to the others", () => {
  expect(verdictOf(undefined, call, "confirm")).toBeUndefined();
  expect(verdictOf(() => undefined, call, "deny")).toBeUndefined();
});

test("a verdict without a reason still has one", () => {
  const rule = (() => ({ outcome: "deny" })) as unknown as Policy;
  expect(verdictOf(rule, call, "confirm")).toEqual({ outcome: "deny", reason: "a policy rule" });
});
