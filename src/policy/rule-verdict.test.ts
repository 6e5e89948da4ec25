import { expect, test } from "vitest";
import type { JsonObject } from "../protocol/index.ts";
import { parsePolicy } from "./index.ts";
import { exampleCall } from "./testing/example-call.ts";

const OUTCOMES = ["deny", "confirm", "allow"] as const;
const LARGE = "args.amount > 1000.0";

/** What a rule with these conditions says about a call with these arguments; undefined if nothing. */
function said(then: string, conditions: string, args: JsonObject): string | undefined {
  const policy = parsePolicy("p", `rules: [{ id: a, ${conditions}, then: ${then} }]`);
  const [verdict] = [policy.judge(exampleCall({ args })) ?? []].flat();
  return verdict?.outcome;
}

const NO_NUMBERS: readonly JsonObject[] = [
  {},
  { amount: null },
  { amount: "5000" },
  { amount: "\u0665\u0660\u0660\u0660" },
  { amount: [5000] },
  { amount: { value: 5000 } },
  { amount: true },
];

test.each(NO_NUMBERS)("%j is no number: what restricts applies, what allows does not", (args) => {
  for (const then of OUTCOMES) {
    const restricts = then === "allow" ? undefined : then;
    expect(said(then, `when: "${LARGE}"`, args)).toBe(restricts);
    // An exception that cannot be judged is none.
    expect(said(then, `unless: "args.amount < 10.0"`, args)).toBe(restricts);
    expect(said(then, `when: "true", unless: "args.amount < 10.0"`, args)).toBe(restricts);
  }
});

test.each<[number, boolean]>([
  [1e308, true],
  [2 ** 53 + 2, true],
  [1000.0000001, true],
  [1000, false],
  [-0, false],
  [-5000, false],
])("the number %d is more than 1000: %s", (amount, isMore) => {
  for (const then of OUTCOMES) {
    expect(said(then, `when: "${LARGE}"`, { amount })).toBe(isMore ? then : undefined);
    expect(said(then, `unless: "${LARGE}"`, { amount })).toBe(isMore ? undefined : then);
  }
});

test("an exception that holds is one, also where the condition beside it cannot be judged", () => {
  for (const then of OUTCOMES)
    expect(said(then, `when: "${LARGE}", unless: 'args.to == "ana"'`, { to: "ana" })).toBeUndefined();
});
