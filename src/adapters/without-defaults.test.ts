import { expect, test } from "vitest";
import { withoutDefaults } from "./without-defaults.ts";

test("drops defaults at every depth, and neither parameters of that name nor data", () => {
  const text = { type: "string" };
  const schema = {
    type: "object",
    properties: {
      default: { ...text, default: "a" },
      list: { items: { anyOf: [{ ...text, default: "b" }, { enum: [{ default: 1 }] }] } },
      properties: { properties: { default: text }, default: {} },
    },
    $defs: { default: { const: { default: 2 }, default: 3 } },
    required: ["default"],
  };
  expect(withoutDefaults(schema)).toEqual({
    type: "object",
    properties: {
      default: text,
      list: { items: { anyOf: [text, { enum: [{ default: 1 }] }] } },
      properties: { properties: { default: text } },
    },
    $defs: { default: { const: { default: 2 } } },
    required: ["default"],
  });
});
