import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { bodyDigest, definitionDigest, type ToolDefinition, valueDigest } from "./digest.ts";

const KEY = new Uint8Array(32).fill(7);
const names = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("__proto__", "constructor", "toString", "", "0", "é", "e\u0301", "\u{1f600}"),
);
const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer(),
      fc.string({ unit: "grapheme" }),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

// The store's own way of telling values apart: what JSON writes once members are in one order.
function inOrder(value: JsonValue): unknown {
  if (Array.isArray(value)) return ["array", ...value.map(inOrder)];
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? 0 : value;
  return [
    "object",
    ...Object.keys(value)
      .toSorted()
      .map((key) => [key, inOrder((value as JsonObject)[key] as JsonValue)]),
  ];
}
const same = (a: JsonValue, b: JsonValue): boolean =>
  JSON.stringify(inOrder(a)) === JSON.stringify(inOrder(b));

function shuffled(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, shuffled(item)]),
  );
}

describe("the digest of a value", () => {
  test("is the same whatever the order of members, and after a trip through the store", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(valueDigest(KEY, shuffled(value))).toBe(valueDigest(KEY, value));
        expect(valueDigest(KEY, JSON.parse(JSON.stringify(value)) as JsonValue)).toBe(
          valueDigest(KEY, value),
        );
      }),
    );
  });

  test("is the same for two values exactly when they are the same value", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(valueDigest(KEY, a) === valueDigest(KEY, b)).toBe(same(a, b));
      }),
    );
  });

  test("changes with every change of one place", () => {
    fc.assert(
      fc.property(json, names, json, json, (rest, name, before, after) => {
        fc.pre(!same(before, after));
        const holding = (value: JsonValue): JsonValue => [rest, Object.fromEntries([[name, value]])];
        expect(valueDigest(KEY, holding(before))).not.toBe(valueDigest(KEY, holding(after)));
      }),
    );
  });

  test.each<[string, JsonValue, JsonValue]>([
    ["a number and its text", 1, "1"],
    ["neighbouring doubles", 0.1, 0.100_000_000_000_000_02],
    ["integers beyond 2^53", 2 ** 53, 2 ** 53 + 2],
    ["null and an absent member", { a: null }, {}],
    ["false and null", false, null],
    ["an empty list and an empty object", [], {}],
    ["a list and an object with its indexes", ["a"], { "0": "a" }],
    ["a member and a nested one of the joined name", { "a.b": 1 }, { a: { b: 1 } }],
    ["composed and decomposed letters", "\u00e9", "e\u0301"],
    ["a letter and a look-alike", "a", "\u0430"],
    ["a text and one with an invisible character", "ana", "an\u200ba"],
    ["order in a list", [1, 2], [2, 1]],
    ["nesting", [[1], 2], [1, [2]]],
    ["__proto__ as a member and no member", JSON.parse('{"__proto__": {}}') as JsonValue, {}],
    ["members of __proto__", JSON.parse('{"__proto__": {"a": 1}}') as JsonValue, { a: 1 }],
  ])("tells %s apart", (_, a, b) => {
    expect(valueDigest(KEY, a)).not.toBe(valueDigest(KEY, b));
  });

  test.each<[string, JsonValue, JsonValue]>([
    ["1 and 1.0", 1, JSON.parse("1.0") as JsonValue],
    ["1e3 and 1000", JSON.parse("1e3") as JsonValue, 1000],
    ["0 and -0, which JSON cannot keep", 0, -0],
    ["an escape and its character", JSON.parse('"\\u0061"') as JsonValue, "a"],
  ])("takes %s for one value", (_, a, b) => {
    expect(valueDigest(KEY, a)).toBe(valueDigest(KEY, b));
  });

  test("differs from ledger to ledger, so that short secrets cannot be tried", () => {
    fc.assert(
      fc.property(json, fc.uint8Array({ minLength: 32, maxLength: 32 }), (value, key) => {
        fc.pre(!Buffer.from(key).equals(KEY));
        expect(valueDigest(key, value)).not.toBe(valueDigest(KEY, value));
      }),
    );
  });

  test("is the SHA-256 of a secret of the key, and then the canonical text", () => {
    const secret = createHmac("sha256", KEY).update("value").digest("base64url");
    const expected = createHash("sha256").update(`${secret}{"a":[true],"b":1}`).digest("base64url");
    expect(valueDigest(KEY, { b: 1, a: [true] })).toBe(expected);
  });

  test("is another one than that of a journal record of the same text", () => {
    expect(valueDigest(KEY, "a")).not.toBe(bodyDigest(KEY, '"a"'));
  });
});

const REFUND: ToolDefinition = {
  name: "refund",
  description: "Pays back.",
  parameters: {
    type: "object",
    properties: { amount: { type: "number" }, title: { type: "string" } },
    required: ["amount"],
  },
  annotations: { destructiveHint: true },
  server: "billing",
};
const withParameters = (parameters: JsonObject): ToolDefinition => ({ ...REFUND, parameters });

describe("the digest of a definition", () => {
  test.each<[string, JsonObject]>([
    ["titles", { title: "Refund", properties: { amount: { type: "number", title: "Amount" } } }],
    ["examples", { properties: { amount: { type: "number", examples: [1, 2] } }, examples: [{ amount: 1 }] }],
    [
      "the dialect",
      { $schema: "https://json-schema.org/draft/2020-12/schema", properties: { amount: { type: "number" } } },
    ],
    [
      "titles in definitions, items and combinations",
      { properties: { amount: { type: "number" } }, $defs: {}, title: "x" },
    ],
  ])("does not change with %s", (_, cosmetic) => {
    const plain = {
      properties: { amount: { type: "number" } },
      ...("$defs" in cosmetic ? { $defs: {} } : {}),
    };
    expect(definitionDigest(withParameters(cosmetic))).toBe(definitionDigest(withParameters(plain)));
  });

  test("does not change with the order of members", () => {
    const { parameters = {}, ...rest } = REFUND;
    const turned = {
      parameters: shuffled(parameters) as JsonObject,
      ...(shuffled(rest) as object),
    };
    expect(definitionDigest(turned as ToolDefinition)).toBe(definitionDigest(REFUND));
  });

  const altered: readonly (readonly [string, ToolDefinition])[] = [
    ["the name", { ...REFUND, name: "refunds" }],
    ["the description", { ...REFUND, description: "Pays back!" }],
    ["an annotation", { ...REFUND, annotations: { destructiveHint: false } }],
    ["the server", { ...REFUND, server: "billing.evil" }],
    ["a missing server", (({ server: _, ...rest }) => rest)(REFUND)],
    [
      "a parameter's type",
      withParameters({
        ...REFUND.parameters,
        properties: { amount: { type: "string" }, title: { type: "string" } },
      }),
    ],
    [
      "a parameter called title",
      withParameters({ ...REFUND.parameters, properties: { amount: { type: "number" } } }),
    ],
    [
      "the type of a parameter called title",
      withParameters({
        ...REFUND.parameters,
        properties: { amount: { type: "number" }, title: { type: "number" } },
      }),
    ],
    ["what is required", withParameters({ ...REFUND.parameters, required: ["amount", "title"] })],
    ["a limit", withParameters({ ...REFUND.parameters, maxProperties: 2 })],
  ];
  test.each(altered)("changes with %s", (_, definition) => {
    expect(definitionDigest(definition)).not.toBe(definitionDigest(REFUND));
  });

  test.each<[string, JsonObject, JsonObject]>([
    ["a default", { default: { title: "a" } }, { default: { title: "b" } }],
    ["a constant", { const: { title: "a" } }, { const: { title: "b" } }],
    ["an enumeration", { enum: [{ examples: 1 }] }, { enum: [{ examples: 2 }] }],
    [
      "what another parameter called title brings with it",
      { dependentRequired: { title: ["a"] } },
      { dependentRequired: { title: ["b"] } },
    ],
    [
      "the schema that a parameter called title brings with it",
      { dependentSchemas: { title: { minProperties: 1 } } },
      { dependentSchemas: { title: { minProperties: 2 } } },
    ],
    [
      "a definition called examples",
      { $defs: { examples: { type: "string" } } },
      { $defs: { examples: { type: "number" } } },
    ],
    [
      "a parameter called title inside one called properties",
      { properties: { properties: { properties: { title: { type: "string" } } } } },
      { properties: { properties: { properties: { title: { type: "number" } } } } },
    ],
    [
      "a parameter called __proto__",
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as JsonObject,
      JSON.parse('{"properties":{"__proto__":{"type":"number"}}}') as JsonObject,
    ],
  ])("changes with data that merely is called like a cosmetic member: %s", (_, before, after) => {
    expect(definitionDigest(withParameters(before))).not.toBe(definitionDigest(withParameters(after)));
  });

  test("carries the version of its recipe, and no key: all ledgers agree on it", () => {
    expect(definitionDigest(REFUND)).toMatch(/^v1:[\w-]{43}$/);
  });
});
