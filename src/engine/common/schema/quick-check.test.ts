import { Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../protocol/index.ts";
import { quickCheck } from "./quick-check.ts";

const names = fc.constantFrom("a", "b", "__proto__");

const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small" },
    fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null") }),
    fc.record({ type: fc.constant("array"), items: tie("schema") }, { requiredKeys: ["type"] }),
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("schema"), { maxKeys: 3 }),
        required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
        additionalProperties: fc.boolean(),
        description: fc.string(),
      },
      { requiredKeys: ["type"] },
    ),
  ),
}));

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<JsonValue>(null, true, "a", 1, 1.5, -0, []),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 3 }),
  ),
}));

test("says what the validator says", () => {
  fc.assert(
    fc.property(schema, value, (asked, given) => {
      const fits = quickCheck(asked);
      expect(fits?.(given)).toBe(new Validator(asked, "2020-12", false).validate(given).valid);
    }),
    { numRuns: 500 },
  );
});

test.each<[string, JsonObject]>([
  ["without a type", {}],
  ["of several types", { type: ["string", "null"] }],
  ["of a type that there is not", { type: "text" }],
  ["with a limit", { type: "number", minimum: 1 }],
  ["with a pattern", { type: "string", pattern: "a" }],
  ["with a reference", { $ref: "#" }],
  ["with a list of values", { enum: [1] }],
  ["with a member that it cannot check", { type: "object", properties: { a: { const: 1 } } }],
  ["with items that it cannot check", { type: "array", items: { anyOf: [] } }],
  ["with a schema for other members", { type: "object", additionalProperties: { type: "string" } }],
  ["with a name that is no text", { type: "object", required: [1] }],
])("leaves a schema to the validator: %s", (_, asked) => {
  expect(quickCheck(asked)).toBeUndefined();
});

test.each(["properties", "required", "additionalProperties"])(
  "leaves a schema whose `%s` is null to the validator",
  (keyword) => expect(quickCheck({ type: "object", [keyword]: null })).toBeUndefined(),
);
