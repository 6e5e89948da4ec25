import { isCelError, run } from "@bufbuild/cel";
import { tests as conformance } from "@bufbuild/cel-spec/testdata/conformance.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { exampleFacts } from "../testing/example-call.ts";
import { compileExpression } from "./expression.ts";
import { resetLoops } from "./strict-values.ts";

// Conditions are judged by one library and compared with another, which follows the specification's own tests. Ours
// may refuse an expression or fail where CEL has a value; it must never have another value.

/** True, false, or why there is no value. */
function ours(text: string, args: JsonObject = {}): boolean | string {
  const compiled = compileExpression(text);
  if (!compiled.ok) return `refused: ${compiled.flaw.message}`;
  resetLoops();
  try {
    return compiled.expression.holds(exampleFacts({ args }));
  } catch (error) {
    return `error: ${String(error)}`;
  }
}

interface Suite {
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: JsonObject & { readonly expr: string } }[];
}

function* casesOf({ suites = [], tests = [] }: Suite): Generator<JsonObject & { readonly expr: string }> {
  for (const { original } of tests) yield original;
  for (const suite of suites) yield* casesOf(suite);
}

/** The condition that is true exactly if the expression has the value that the specification's test expects. */
function conditionOf({ expr, value }: JsonObject & { readonly expr: string }): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { boolValue, int64Value, doubleValue, stringValue } = value;
  if (boolValue !== undefined) return boolValue === true ? expr : `!(${expr})`;
  if (typeof int64Value === "string") return `(${expr}) == ${int64Value}`;
  if (typeof doubleValue === "number") return `(${expr}) == ${doubleValue.toFixed(20)}`;
  if (typeof stringValue === "string") return `(${expr}) == ${JSON.stringify(stringValue)}`;
  return undefined;
}

test("no case of the specification has another value here", () => {
  const counts = { right: 0, error: 0, refused: 0 };
  const wrong: string[] = [];
  for (const original of casesOf(conformance)) {
    const { evalError, bindings } = original;
    if (bindings !== undefined) continue;
    const condition = evalError === undefined ? conditionOf(original) : original.expr;
    if (condition === undefined) continue;
    const said = ours(condition);
    if (typeof said === "string") counts[said.startsWith("refused") ? "refused" : "error"]++;
    else if (said && evalError === undefined) counts.right++;
    else wrong.push(`${original.expr}: ${said}`);
  }
  expect(wrong).toEqual([]);
  // Most cases are about what rules may not use; the others must be judged, not refused.
  expect(counts.right).toBeGreaterThan(150);
});

const name = fc.constantFrom("a", "b", "c", "missing");
const leaf: fc.Arbitrary<string> = fc.oneof(
  name.map((member) => `args.${member}`),
  fc.constantFrom(
    "1",
    "2",
    "0",
    "1.5",
    "'x'",
    "''",
    "true",
    "false",
    "null",
    "[1, 2]",
    "['x']",
    "{'k': 1.0}",
    "user.roles",
  ),
);
const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const e = tie("expression");
  const binary = fc
    .tuple(e, fc.constantFrom("==", "!=", "<", "<=", ">", ">=", "&&", "||", "in", "+", "-", "*", "/"), e)
    .map(([a, op, b]) => `(${a} ${op} ${b})`);
  const loop = fc
    .tuple(e, fc.constantFrom("exists", "all", "exists_one"), e)
    .map(([list, kind, body]) => `(${list}).${kind}(v, v == (${body}))`);
  return {
    expression: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      binary,
      binary,
      loop,
      fc.tuple(e, e, e).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
      e.map((a) => `!(${a})`),
      e.map((a) => `size(${a})`),
      fc.tuple(e, e).map(([a, b]) => `(${a})[${b}]`),
      fc
        .tuple(e, fc.constantFrom("startsWith", "endsWith", "contains"), e)
        .map(([a, f, b]) => `(${a}).${f}(${b})`),
      name.map((member) => `has(args.${member})`),
    ),
  };
});
const values: fc.Arbitrary<JsonValue> = fc.constantFrom<JsonValue>(
  0,
  1,
  2,
  1.5,
  -1,
  1e308,
  "x",
  "",
  "xy",
  true,
  false,
  null,
  [1, 2],
  ["x", 1],
  [],
  { k: 1 },
  {},
);

function toCel(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(toCel);
  if (!isJsonObject(value)) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, toCel(item)]));
}

test("any expression over any arguments has CEL's value, or none", () => {
  let judged = 0;
  fc.assert(
    fc.property(expression, fc.record({ a: values, b: values, c: values }), (text, args) => {
      // The oracle says that a map does not have a member that is null. The specification says that it has.
      fc.pre(!text.includes("has(") || !Object.values(args).includes(null));
      const said = ours(text, args);
      if (typeof said === "string") return;
      judged++;
      const user = new Map<string, unknown>([["roles", ["finance"]]]);
      const oracle = run(text, { args: toCel(args), user } as Parameters<typeof run>[1]);
      expect(isCelError(oracle) ? `error: ${String(oracle)}` : oracle, text).toBe(said);
    }),
    { numRuns: 4_000 },
  );
  expect(judged).toBeGreaterThan(100);
});
