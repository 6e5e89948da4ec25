import { expect, test } from "vitest";
import type { PolicyCall } from "../engine/index.ts";
import { Backtest, type PastCall, parsePolicy } from "./index.ts";
import { exampleCall } from "./testing/example-call.ts";

const RULE = "id: pay, match: { tool: pay }, then: confirm";
const MINUTE = 60_000;

/** A question about a payment, so many minutes after the first. */
function asked(minute: number, call: Partial<PolicyCall> = {}, past: Partial<PastCall> = {}): PastCall {
  const args = call.args ?? { amount: 4.5, to: "zoe" };
  return {
    id: `q${minute}`,
    was: "asked",
    why: ["policy rule pay"],
    policy: [{ rules: [{ rule: "pay", outcome: "confirm" }] }],
    decided: "approved",
    call: exampleCall({ at: minute * MINUTE, ...call, args, shown: args }),
    ...past,
  };
}

function grantsFor(history: readonly PastCall[], rule = RULE): readonly unknown[] {
  const backtest = new Backtest(parsePolicy("p", `rules: [{ ${rule} }]`));
  for (const past of history) backtest.add(past);
  return backtest.report().suggestions.filter((one) => "grants" in one);
}

const MANY = Array.from({ length: 30 }, (_, minute) => asked(minute));

test("a grant is suggested where people only ever approved, as far as it would have been used", () => {
  expect(grantsFor(MANY)).toEqual([
    {
      rule: "pay",
      tool: "pay",
      grants: "{ longest: 1h, count: 20, sum: { arg: amount, most: 90 } }",
      approvals: 28,
    },
  ]);
  expect(grantsFor(MANY.toReversed())).toEqual(grantsFor(MANY));
});

test("what is suggested can be written into the rule, and nothing is suggested then", () => {
  const [{ grants }] = grantsFor(MANY) as readonly [{ readonly grants: string }];
  expect(grantsFor(MANY, `${RULE}, grants: ${grants}`)).toEqual([]);
});

test("arguments without a number need no sum", () => {
  expect(grantsFor(MANY.map((_, minute) => asked(minute, { args: { to: "zoe" } })))).toMatchObject([
    { grants: "{ longest: 1h, count: 20 }" },
  ]);
});

test.each<[string, readonly PastCall[]]>([
  ["one was denied", [...MANY, asked(31, {}, { decided: "denied" })]],
  ["there are too few", MANY.slice(0, 20)],
  ["each has a session of its own", MANY.map((_, minute) => asked(minute, { session: `s${minute}` }))],
  [
    "each is asked for by somebody else",
    MANY.map((_, minute) => asked(minute, { requesters: [`u${minute}`] })),
  ],
  ["they are more than an hour apart", MANY.map((_, minute) => asked(minute * 61))],
  [
    "the tool's author asked, too",
    MANY.map((_, minute) =>
      asked(minute, {}, { why: ["the tool requires confirmation", "policy rule pay"] }),
    ),
  ],
  [
    "two numbers would have to be limited",
    MANY.map((_, minute) => asked(minute, { args: { amount: 1, fee: 2 } })),
  ],
  ["an amount is nested", MANY.map((_, minute) => asked(minute, { args: { payment: { amount: 5_000 } } }))],
  ["an amount is a text", MANY.map((_, minute) => asked(minute, { args: { amount: "5000.00" } }))],
  ["an amount is redacted", MANY.map((_, minute) => asked(minute, { args: { amount: "[redacted]" } }))],
  ["a number is negative", [...MANY, asked(31, { args: { amount: -1 } })]],
  ["a number is missing once", [...MANY, asked(31, { args: {} })]],
  ["nobody decided", MANY.map((_, minute) => asked(minute, {}, { decided: "expired" }))],
])("no grant is suggested where %s", (_, history) => {
  expect(grantsFor(history)).toEqual([]);
});

test("an exception is suggested only below all that was denied, however much that is", () => {
  const backtest = new Backtest(parsePolicy("p", `rules: [{ ${RULE} }]`));
  for (let minute = 0; minute < 30; minute += 1) backtest.add(asked(minute, { args: { amount: minute } }));
  for (let minute = 0; minute < 10_001; minute += 1)
    backtest.add(asked(minute, { args: { amount: minute === 10_000 ? 25 : 500 } }, { decided: "denied" }));
  expect(backtest.report().suggestions).toMatchObject([
    { unless: "args.amount >= 0.0 && args.amount <= 22.0", approvals: 23 },
  ]);
});
