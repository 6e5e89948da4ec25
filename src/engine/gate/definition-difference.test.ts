import { expect, test } from "vitest";
import type { ToolDefinition } from "../common/index.ts";
import { differenceOf } from "./definition-difference.ts";

const PAY: ToolDefinition = {
  name: "pay",
  description: "Pays.",
  parameters: {
    type: "object",
    properties: { to: { type: "string" }, amount: { type: "number", maximum: 100 } },
    required: ["to", "amount"],
  },
  annotations: { destructiveHint: true },
  server: "bank",
};

test("a definition does not differ from itself, whatever the order of its members", () => {
  const { name, ...rest } = PAY;
  expect(differenceOf(PAY, { ...structuredClone(rest), name })).toEqual([]);
});

test.each<[string, Partial<ToolDefinition>, string]>([
  ["its words", { description: "Pays twice." }, 'its description changed from "Pays." to "Pays twice."'],
  ["its server", { server: "b4nk" }, 'its server changed from "bank" to "b4nk"'],
  ["its server's place", { place: "http://b4nk" }, 'its server\'s place changed from "" to "http://b4nk"'],
  [
    "what it says of itself",
    { annotations: { destructiveHint: false } },
    "the annotation destructiveHint changed from true to false",
  ],
])("tells of %s", (_, change, phrase) => {
  expect(differenceOf(PAY, { ...PAY, ...change })).toEqual([phrase]);
});

test("tells of each parameter that is new, gone or of another kind, and of the rules around them", () => {
  const parameters = {
    type: "object",
    properties: { amount: { type: "number", maximum: 9_000 }, memo: { type: "string" } },
    required: ["amount"],
  };
  expect(differenceOf(PAY, { ...PAY, parameters })).toEqual([
    "the parameter to was removed",
    'the parameter amount changed from {"type":"number","maximum":100} to {"type":"number","maximum":9000}',
    "the parameter memo is new",
    'the rules for its parameters changed from {"type":"object","required":["to","amount"]} to {"type":"object","required":["amount"]}',
  ]);
});

test("clips what is too long to be read on a card", () => {
  const [phrase = ""] = differenceOf(PAY, { ...PAY, description: "x".repeat(10_000) });
  expect(phrase.length).toBeLessThan(300);
});
