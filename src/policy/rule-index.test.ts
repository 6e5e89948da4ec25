import fc from "fast-check";
import { expect, test } from "vitest";
import type { PolicyCall, PolicySource } from "../engine/index.ts";
import type { JsonValue } from "../protocol/index.ts";
import { parsePolicy } from "./index.ts";
import { exampleCall } from "./testing/example-call.ts";

function denying(match: object): string {
  return `rules: [{ id: a, match: ${JSON.stringify(match)}, then: deny }]`;
}

/** Does a rule with this `match` deny the call? */
function denies(match: object, call: Partial<PolicyCall>): boolean {
  const policy = parsePolicy("p", denying(match));
  return [policy.judge(exampleCall(call)) ?? []].flat().length > 0;
}

test.each<[string, string, boolean]>([
  ["pay", "pay", true],
  ["pay", "pays", false],
  ["pay", "Pay", false],
  ["pay", "pay ", false],
  ["café", "cafe\u0301", false],
  ["pay", "раy", false],
  ["pay", "pay\n", false],
  ["pay*", "pay", true],
  ["pay*", "pay\nall", true],
  ["*pay", "repay", true],
  ["*pay", "payer", false],
  ["p*y", "py", true],
  ["p*a*y", "paaay", true],
  ["p*a*y", "pay\u0000", false],
  ["p?y", "pay", true],
  ["p?y", "py", false],
  ["p?y", "p😀y", true],
  ["p.y", "pay", false],
  ["p.*", "pay", false],
  ["pay|wipe", "pay", false],
  ["^pay$", "pay", false],
  ["(pay)+", "pay", false],
  ["bank.*", "bank.pay", true],
  ["**", "anything/at all", true],
  ["*", "constructor", true],
  ["constructor", "constructor", true],
])("the pattern %j and the tool %j: %s", (pattern, tool, expected) => {
  expect(denies({ tool: pattern }, { tool })).toBe(expected);
});

test.each<[string, boolean]>([
  ["deny", true],
  ["confirm", true],
  ["allow", false],
])(
  "of several requesters, one is enough for a rule that restricts, not for one that allows: %s",
  (then, one) => {
    const policy = parsePolicy("p", `rules: [{ id: a, match: { user: ana }, then: ${then} }]`);
    const count = (user: string, requesters: readonly string[]): number =>
      [policy.judge(exampleCall({ user, requesters })) ?? []].flat().length;
    expect([count("ana", ["desk", "ana"]), count("desk", ["desk", "ana"])]).toEqual(one ? [1, 1] : [0, 0]);
    expect(count("ana", ["ana"])).toBe(1);
  },
);

test.each(["", "[ab]pay", "{pay,wipe}", "!pay", "pay\\*"])(
  "the pattern %j is refused, not misread",
  (pattern) => {
    expect(() => denies({ tool: pattern }, {})).toThrow("match.tool");
  },
);

// One that tried every way to place the stars would not end.
test("a pattern with many stars is compared in bounded time", () => {
  expect(denies({ tool: `${"*a".repeat(200)}b` }, { tool: "a".repeat(5_000) })).toBe(false);
});

test("names that are joined the same way are told apart, also when one was judged before", () => {
  const policy = parsePolicy("p", denying({ tool: "pay", app: 'x","y' }));
  const judged = (app: string, agent: string): number =>
    [policy.judge(exampleCall({ app, agent })) ?? []].flat().length;
  expect(judged("x", 'y","z')).toBe(0);
  expect(judged('x","y', "z")).toBe(1);
  expect(judged("x", 'y","z')).toBe(0);
});

test("a rule about a server is about no tool without one, nor about a remote agent of that name", () => {
  for (const mcpServer of ["*", "bank"]) {
    expect(denies({ mcpServer }, { source: "bank" })).toBe(true);
    expect(denies({ mcpServer }, {})).toBe(false);
    expect(denies({ mcpServer }, { source: "bank", entryPoint: "remote" })).toBe(false);
  }
});

test("whoever made up more names than are remembered gets no other rules", () => {
  const policy = parsePolicy("p", denying({ tool: "pay" }));
  for (let i = 0; i < 2_500; i++) policy.judge(exampleCall({ agent: `agent-${i}`, tool: "look" }));
  expect(policy.judge(exampleCall())).toMatchObject([{ rule: "a" }]);
});

const written = fc.constantFrom('"x"', '"y"', '""', "1", "2.0", "1.5", "-1.0", "12", "true", "null");
const texts = fc
  .array(fc.constantFrom('"x"', '"y"', '"z"'), { maxLength: 2 })
  .map((all) => `[${all.join(", ")}]`);

/** Comparisons of one fact, in one or two ways: so many that they are looked up together. */
const comparisons: fc.Arbitrary<fc.Arbitrary<string>> = fc
  .tuple(
    fc.constantFrom("args.a", "args.b.c", "args.list", "args.none", "user.roles", "user.id", "time.hour"),
    fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 2 }),
  )
  .map(([fact, ways]) => {
    const all = [
      ...["==", "!=", "<", "<=", ">"].map((op) => written.map((one) => `${fact} ${op} ${one}`)),
      ...["==", "<="].map((op) => written.map((one) => `${one} ${op} ${fact}`)),
      fc.oneof(texts, fc.constant('["x", 1]')).map((some) => `${fact} in ${some}`),
      written.map((one) => `${one} in ${fact}`),
      written.map((one) => `${fact}.exists(v, v == ${one})`),
    ];
    return fc.oneof(...ways.flatMap((way) => all[way] ?? []));
  });
const conditions = comparisons.map((compared) =>
  fc.oneof(
    { weight: 3, arbitrary: compared },
    fc.tuple(compared, fc.constantFrom("&&", "||"), compared).map(([a, op, b]) => `(${a}) ${op} (${b})`),
    compared.map((one) => `!(${one})`),
  ),
);
const manyRules = conditions.chain((condition) =>
  fc.array(
    fc.record({
      when: condition,
      outcome: fc.constantFrom("allow", "confirm", "deny"),
      unless: fc.option(condition, { nil: undefined, freq: 5 }),
    }),
    { minLength: 30, maxLength: 60 },
  ),
);
const value = fc.constantFrom<JsonValue>(
  "x",
  "y",
  "",
  1,
  2,
  1.5,
  -1,
  -0,
  1e308,
  true,
  null,
  ["x"],
  ["x", "y"],
  ["x", 1],
  [],
  { c: "x" },
  { c: 1 },
  { x: 1 },
  Array.from({ length: 1_001 }, () => "z"),
);

test("of many rules, those apply that apply alone, for the same reasons and in the file's order", () => {
  let applied = 0;
  fc.assert(
    fc.property(
      manyRules,
      fc.record({ a: value, b: value, list: value }),
      fc.subarray(["x", "y", "z"]),
      (some, args, roles) => {
        const call = exampleCall({ args, shown: args, roles, user: "x" });
        const rules = some.map(({ when, unless, outcome }, place) => {
          const one = ruleText(place, outcome, { when, ...(unless === undefined ? {} : { unless }) });
          return { one, alone: policyOf([one]) };
        });
        const alone = rules.flatMap((rule) => rule.alone?.judge(call) ?? []);
        const together = policyOf(
          rules.flatMap(({ one, alone: known }) => (known === undefined ? [] : [one])),
        );
        applied += alone.length;
        expect(together?.judge(call) ?? []).toEqual(alone);
      },
    ),
    { numRuns: 100 },
  );
  expect(applied).toBeGreaterThan(100);
}, 120_000);

function ruleText(place: number, outcome: string, terms: object): string {
  return JSON.stringify({ id: `r${place}`, ...terms, outcome }).replace('"outcome":', '"then":');
}

/** Undefined if it cannot be read: the types of some comparisons are known to be wrong before any call. */
function policyOf(rules: readonly string[]): PolicySource | undefined {
  try {
    return parsePolicy("p", `rules: [${rules.join(", ")}]`);
  } catch {
    return undefined;
  }
}

test.each<[string, (place: number) => string, JsonValue | undefined]>([
  ["a wrong type", (place) => `args.a == "no-${place}"`, 5],
  ["nothing", (place) => `args.a == "no-${place}"`, undefined],
  ["a text for a number", (place) => `args.a > ${place}.0`, "5"],
  ["a long list", (place) => `args.a.exists(one, one == "no-${place}")`, Array(1_001).fill("x")],
  ["a list with a number", (place) => `"no-${place}" in args.a`, ["x", 5]],
])("%s does not get past many rules that deny", (_what, when, a) => {
  const rules = Array.from({ length: 40 }, (_, place) => ruleText(place, "deny", { when: when(place) }));
  const args = a === undefined ? {} : { a };
  const verdicts = policyOf(rules)?.judge(exampleCall({ args }));
  expect([verdicts].flat()).toHaveLength(40);
});
