import { expect, test } from "vitest";
import { jsonSchemaOf } from "./json-schema.ts";

test("a schema of the Gemini API becomes JSON Schema, at every depth", () => {
  const parameters = {
    type: "OBJECT",
    propertyOrdering: ["to"],
    properties: {
      to: { type: "ARRAY", items: { type: "STRING", maxLength: "20" }, minItems: "1" },
      note: { type: "STRING", nullable: true, example: "thanks" },
      amount: { anyOf: [{ type: "NUMBER" }, { type: "STRING", enum: ["all"] }] },
    },
    required: ["to"],
  };
  expect(jsonSchemaOf({ parameters })).toEqual({
    type: "object",
    properties: {
      to: { type: "array", items: { type: "string", maxLength: 20 }, minItems: 1 },
      note: { anyOf: [{ type: "string" }, { type: "null" }] },
      amount: { anyOf: [{ type: "number" }, { type: "string", enum: ["all"] }] },
    },
    required: ["to"],
  });
});

test("a property may have the name of a keyword", () => {
  const parameters = {
    type: "OBJECT",
    properties: { type: { type: "STRING" }, nullable: { type: "BOOLEAN" } },
  };
  expect(jsonSchemaOf({ parameters })).toEqual({
    type: "object",
    properties: { type: { type: "string" }, nullable: { type: "boolean" } },
  });
});

test("JSON Schema stays as it is", () => {
  const parametersJsonSchema = { type: "object", properties: {} };
  expect(jsonSchemaOf({ parametersJsonSchema })).toEqual(parametersJsonSchema);
  expect(jsonSchemaOf({})).toBeUndefined();
});
