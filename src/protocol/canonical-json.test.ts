import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";
import type { JsonValue } from "./json.ts";

/** The published test data of RFC 8785's reference repository: input text, canonical text. */
const VECTORS: readonly [name: string, input: string, output: string][] = [
  ["arrays", '[56, {"d": true, "10": null, "1": [ ]}]', '[56,{"1":[],"10":null,"d":true}]'],
  [
    "french",
    '{"peach": "This sorting order", "péché": "is wrong according to French", "pêche": "but canonicalization MUST", "sin": "ignore locale"}',
    '{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}',
  ],
  [
    "structures",
    String.raw`{"1": {"f": {"f": "hi","F": 5} ,"\n": 56.0}, "10": { }, "": "empty", "a": { }, "111": [ {"e": "yes","E": "no" } ], "A": { }}`,
    String.raw`{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}`,
  ],
  ["unicode", String.raw`{"Unnormalized Unicode":"A\u030a"}`, '{"Unnormalized Unicode":"A\u030a"}'],
  [
    "values",
    String.raw`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001], "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`,
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  ],
  [
    "weird",
    String.raw`{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\u000a": "Newline", "1": "One", "\u0080": "Control\u007f", "\ud83d\ude02": "Smiley", "\u00f6": "Latin Small Letter O With Diaeresis", "\ufb33": "Hebrew Letter Dalet With Dagesh", "</script>": "Browser Challenge"}`,
    '{"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","\u{1F602}":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  ],
];

test.each(VECTORS)("the published vector %s comes out as published", (_, input, output) => {
  expect(canonicalJson(JSON.parse(input) as JsonValue)).toBe(output);
});

/** RFC 8785, appendix B: IEEE 754 bits and the number's text. */
const NUMBERS: readonly [bits: string, text: string][] = [
  ["0000000000000000", "0"],
  ["8000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"],
  ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"],
  ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
];

test.each(NUMBERS)("the number of bits %s is written %s", (bits, text) => {
  expect(canonicalJson(Buffer.from(bits, "hex").readDoubleBE())).toBe(text);
});

test("every character is escaped as JSON.stringify does, in short and long texts and in names", () => {
  for (let unit = 0; unit < 0xd800; unit += 1) {
    const text = `a${String.fromCharCode(unit)}`;
    expect(canonicalJson(text)).toBe(JSON.stringify(text));
  }
  const all = Array.from({ length: 256 }, (_, unit) => String.fromCharCode(unit)).join("");
  expect(canonicalJson({ [all]: all, "\\": '"' })).toBe(JSON.stringify({ [all]: all, "\\": '"' }));
});

test("the same value has the same text whatever the order of its members", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.infiniteStream(fc.nat()), (value, dice) => {
      const json = asJson(value);
      expect(canonicalJson(shuffled(json, dice))).toBe(canonicalJson(json));
    }),
  );
});

test("the text reads back as the value, so different values have different texts", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      const json = asJson(value);
      expect(JSON.parse(canonicalJson(json))).toEqual(json);
    }),
  );
});

test("the text is the one that the reference implementation of RFC 8785 writes", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), (value) => {
      const json = asJson(value);
      expect(canonicalJson(json)).toBe(canonicalize(json));
    }),
    { numRuns: 1_000 },
  );
});

test.each<[string, JsonValue, JsonValue]>([
  ["a number and its text", 1, "1"],
  ["null and its word", null, "null"],
  ["absent and null", {}, { a: null }],
  ["one nesting more", [1], [[1]]],
  ["composed and decomposed letters", "\u00e9", "e\u0301"],
  ["a __proto__ member and none", JSON.parse('{"__proto__":{"a":1}}'), {}],
  ["neighbouring doubles", 0.1 + 0.2, 0.3],
])("%s are told apart", (_, one, other) => {
  expect(canonicalJson(one)).not.toBe(canonicalJson(other));
});

test("many members are sorted by UTF-16 code unit, as few are", () => {
  const keys = Array.from({ length: 40 }, (_, index) => `k${String.fromCharCode(0x2000 - index * 7)}`);
  const many = canonicalJson(Object.fromEntries(keys.map((key) => [key, 1])));
  expect(Object.keys(JSON.parse(many) as object)).toEqual(keys.toSorted());
});

test.each<[string, unknown]>([
  ["a lone surrogate", "\ud800"],
  ["a long text with a lone surrogate", `${"x".repeat(100)}\udc00`],
  ["a lone surrogate in a name", { "\udfff": 1 }],
  ["NaN", Number.NaN],
  ["infinity", [Number.NEGATIVE_INFINITY]],
  ["undefined", { a: undefined }],
  ["a bigint", 1n],
  ["nesting beyond the ceiling", JSON.parse("[".repeat(100_000) + "]".repeat(100_000))],
])("%s has no canonical form", (_, value) => {
  expect(() => canonicalJson(value as JsonValue)).toThrow(
    expect.objectContaining({ code: "malformed-json" }),
  );
});

function asJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

function shuffled(value: JsonValue, dice: Iterator<number>): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => shuffled(item, dice));
  const entries = Object.entries(value).map(([key, item]) => ({
    key,
    item,
    rank: Number(dice.next().value),
  }));
  entries.sort((one, other) => one.rank - other.rank);
  return Object.fromEntries(entries.map(({ key, item }) => [key, shuffled(item, dice)]));
}
