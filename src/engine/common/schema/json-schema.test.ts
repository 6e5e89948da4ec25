import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../protocol/index.ts";
import { checkSchema } from "./json-schema.ts";

const SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    amount: { type: "number", exclusiveMinimum: 0 },
    to: { type: "object", properties: { iban: { type: "string" } }, required: ["iban"] },
    tags: { type: "array", items: { type: "string" }, maxItems: 2 },
    "a/b": { type: "string" },
    kind: { enum: ["full", "part"] },
  },
  required: ["amount"],
  additionalProperties: false,
};

test.each<[string, JsonValue]>([
  ["the least that is required", { amount: 1 }],
  ["everything", { amount: 0.5, to: { iban: "DE1" }, tags: ["a", "b"], "a/b": "c", kind: "part" }],
])("what fits, fits: %s", (_, value) => {
  expect(checkSchema(SCHEMA, value)).toEqual({ ok: true });
});

test.each<[string, JsonValue, string]>([
  ["a missing member", {}, "amount"],
  ["a missing member of a member", { amount: 1, to: {} }, "to/iban"],
  ["a wrong type", { amount: "1" }, "amount"],
  ["a value out of range", { amount: 0 }, "amount"],
  ["an item of the wrong type", { amount: 1, tags: ["a", 2] }, "tags/1"],
  ["a member too many", { amount: 1, extra: 1 }, "extra"],
  ["a value that is not listed", { amount: 1, kind: "half" }, "kind"],
  ["a name with a slash", { amount: 1, "a/b": 1 }, "a~1b"],
  ["a list for an object", [], ""],
  ["a scalar for an object", null, ""],
])("what does not fit names the field: %s", (_, value, field) => {
  expect(checkSchema(SCHEMA, value)).toMatchObject({ ok: false, field });
});

test("members of a prototype do not count", () => {
  const inherited = JSON.parse('{"__proto__": {"amount": 1}}') as JsonValue;
  expect(checkSchema(SCHEMA, inherited)).toMatchObject({ ok: false });
  expect(checkSchema({ required: ["constructor"] }, {})).toMatchObject({ ok: false, field: "constructor" });
});

test.each<[string, JsonObject]>([
  ["a reference to nowhere", { $ref: "#/$defs/missing" }],
  ["a reference to another document", { $ref: "https://example.com/schema.json" }],
  ["a pattern that is none", { type: "object", properties: { a: { pattern: "(" } } }],
])("a schema that cannot be read fits nothing: %s", (_, schema) => {
  expect(checkSchema(schema, { a: "x" })).toMatchObject({ ok: false });
});

const doubling = (depth: number): JsonObject => ({
  $ref: "#/$defs/d0",
  $defs: Object.fromEntries(
    Array.from({ length: depth }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` };
      return [`d${i}`, i === depth - 1 ? {} : { allOf: [next, next] }];
    }),
  ),
});

test.each<[string, JsonObject, JsonValue]>([
  [
    "a pattern that tries everything",
    { properties: { a: { pattern: "^(a+)+$" } } },
    { a: `${"a".repeat(60)}!` },
  ],
  ["references that double", doubling(60), {}],
  [
    "many schemas for each of many values",
    { allOf: Array.from({ length: 3_000 }, () => ({ items: { type: "string" } })) },
    Array.from({ length: 30_000 }, () => 0),
  ],
  [
    "many schemas that count a long text",
    { allOf: Array.from({ length: 10_000 }, () => ({ maxLength: 9_000_000 })) },
    "é".repeat(1_000_000),
  ],
  ["a list compared with itself", { uniqueItems: true }, Array.from({ length: 100_000 }, (_, i) => ({ i }))],
])("a schema that takes forever fits nothing, and takes no longer than it may: %s", (_, schema, value) => {
  expect(checkSchema(schema, value)).toMatchObject({
    ok: false,
    message: expect.stringContaining("cannot be checked within") as string,
  });
  expect(checkSchema({ properties: { a: { pattern: "^b$" } } }, { a: "b" })).toEqual({ ok: true });
});

const nested = (depth: number): JsonObject =>
  depth === 0 ? {} : { $id: `https://schemas.test/${depth}`, not: nested(depth - 1) };

test.each<[string, JsonObject]>([
  ["parts with an address of their own, each in the other", nested(60)],
  [
    "the same, by the older name",
    JSON.parse(JSON.stringify(nested(60)).replaceAll("$id", "id")) as JsonObject,
  ],
  [
    "many parts below a long name",
    { properties: { ["a".repeat(400_000)]: { allOf: Array.from({ length: 100_000 }, () => ({})) } } },
  ],
  [
    "many parts at a long address",
    {
      $id: `https://schemas.test/${"a".repeat(400_000)}`,
      allOf: Array.from({ length: 100_000 }, () => true),
    },
  ],
])("a schema that takes all time or memory to read fits nothing: %s", (_, schema) => {
  expect(checkSchema(schema, {})).toEqual({
    ok: false,
    field: "",
    message: "the schema cannot be read: Error: it is too large",
  });
});

test("parts that libraries name are read", () => {
  const schema = { $ref: "#/$defs/Sum", $defs: { Sum: { id: "Sum", type: "object", required: ["amount"] } } };
  expect(checkSchema(schema, { amount: 1 })).toEqual({ ok: true });
  expect(checkSchema(schema, {})).toMatchObject({ ok: false, field: "amount" });
});

test("what cannot be read is told in few words", () => {
  const schema = { $ref: "#/nowhere", allOf: Array.from({ length: 1_000 }, () => ({})) };
  const outcome = checkSchema(schema, {});
  expect(outcome.ok ? 0 : outcome.message.length).toBeLessThan(400);
});
