import { describe, expect, test } from "vitest";
import { z as z4 } from "zod";
import { z } from "zod/v3";
import { call, play, resultsIn, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { Agent, type JsonObject, tool } from "../../index.ts";
import { fromZod3, isZod3 } from "./zod3.ts";

const makeRunner = useRunners();

function described(schema: object): unknown {
  return fromZod3(schema)?.["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
}

test.each<[string, object, JsonObject]>([
  [
    "string",
    z.string().min(1).max(9).describe("a name"),
    { type: "string", minLength: 1, maxLength: 9, description: "a name" },
  ],
  [
    "string of one length",
    z.string().length(4).regex(/^\d+$/),
    { type: "string", minLength: 4, maxLength: 4, pattern: "^\\d+$" },
  ],
  ["format", z.string().email(), { type: "string", format: "email" }],
  [
    "number",
    z.number().positive().lte(9).multipleOf(3),
    { type: "number", exclusiveMinimum: 0, maximum: 9, multipleOf: 3 },
  ],
  ["integer", z.number().int().min(1).lt(5), { type: "integer", minimum: 1, exclusiveMaximum: 5 }],
  ["coerced number", z.coerce.number(), { type: "number" }],
  ["boolean", z.boolean(), { type: "boolean" }],
  ["null", z.null(), { type: "null" }],
  ["any", z.any(), {}],
  ["unknown", z.unknown(), {}],
  ["date", z.coerce.date(), { type: "string", format: "date-time" }],
  ["literal", z.literal("x"), { const: "x" }],
  ["enum", z.enum(["a", "b"]), { enum: ["a", "b"] }],
  ["native enum", z.nativeEnum({ A: 0, B: "b", 0: "A" }), { enum: [0, "b"] }],
  [
    "array",
    z.array(z.string()).min(1).max(3),
    { type: "array", items: { type: "string" }, minItems: 1, maxItems: 3 },
  ],
  [
    "array of one length",
    z.array(z.string()).length(2),
    { type: "array", items: { type: "string" }, minItems: 2, maxItems: 2 },
  ],
  [
    "tuple",
    z.tuple([z.string(), z.number()]),
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 2, items: false },
  ],
  [
    "open tuple",
    z.tuple([z.string()]).rest(z.number()),
    { type: "array", prefixItems: [{ type: "string" }], minItems: 1, items: { type: "number" } },
  ],
  ["record", z.record(z.number()), { type: "object", additionalProperties: { type: "number" } }],
  ["union", z.union([z.string(), z.number()]), { anyOf: [{ type: "string" }, { type: "number" }] }],
  ["nullable", z.string().nullable(), { anyOf: [{ type: "string" }, { type: "null" }] }],
  ["default", z.number().default(3), { type: "number", default: 3 }],
  ["transformed", z.string().transform(Number), { type: "string" }],
  ["refined", z.string().refine((text) => text !== ""), { type: "string" }],
  ["piped", z.string().transform(Number).pipe(z.number()), { type: "string" }],
  ["branded, read-only", z.string().brand("id").readonly(), { type: "string" }],
  ["caught", z.string().catch("x"), { type: "string" }],
])("a %s of zod 3 is told as the JSON Schema of what a model may give", (_, schema, expected) => {
  expect(described(schema)).toEqual(expected);
});

test("of an object, what may be left out is not required", () => {
  const schema = z
    .object({
      kind: z.discriminatedUnion("t", [
        z.object({ t: z.literal("a") }),
        z.object({ t: z.literal("b") }).strict(),
      ]),
      note: z.string().optional(),
      count: z.number().default(1),
      both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
      late: z
        .string()
        .optional()
        .transform((text) => text ?? ""),
    })
    .strict();
  expect(described(schema)).toEqual({
    type: "object",
    properties: {
      kind: {
        anyOf: [
          { type: "object", properties: { t: { const: "a" } }, required: ["t"] },
          { type: "object", properties: { t: { const: "b" } }, required: ["t"], additionalProperties: false },
        ],
      },
      note: { type: "string" },
      count: { type: "number", default: 1 },
      both: {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
        ],
      },
      late: { type: "string" },
    },
    required: ["kind", "both"],
    additionalProperties: false,
  });
});

test("zod 4 is not handled here: it describes itself", () => {
  expect(isZod3(z4.object({}))).toBe(false);
  expect(isZod3({ type: "object" })).toBe(false);
});

describe("a tool with zod 3 parameters", () => {
  const pay = tool({
    name: "pay",
    description: "Pays.",
    parameters: z.object({ amount: z.coerce.number(), currency: z.string().default("EUR") }),
    requireConfirmation: ({ amount }) => amount > 10,
    execute: ({ amount, currency }) => `${amount.toFixed(2)} ${currency}`,
  });

  test("is parsed by zod: coerced, defaults filled in, what is shown is what runs", async () => {
    const model = play([call("pay", { amount: "20" })], "Done.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }) });
    const turn = await runner.send("pay", { user: "ana" });
    expect(turn.pending[0]?.args).toEqual({ amount: 20, currency: "EUR" });
    await (await runner.approve(String(turn.pending[0]?.id), { by: { id: "ana" } })).finished;
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([{ result: "20.00 EUR" }]);
  });

  test("tells the model of a mistake by the field", async () => {
    const model = play([call("pay", { amount: "much" })], "Sorry.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [pay] }) });
    await runner.send("pay", { user: "ana" });
    expect(model.requests.slice(1).flatMap(resultsIn)).toMatchObject([{ field: "amount" }]);
  });

  test("is refused when it is made, if no model could be told of it", () => {
    const parameters = z.object({ key: z.symbol() });
    expect(() => tool({ name: "t", description: "", parameters, execute: () => null })).toThrow(/ZodSymbol/);
  });
});

test("a schema of a library that cannot write JSON Schema is refused when the tool is made", () => {
  const parameters = {
    "~standard": { version: 1, vendor: "homemade", validate: (value: unknown) => ({ value }) },
  } as const;
  expect(() => tool({ name: "t", description: "", parameters, execute: () => null })).toThrow(
    expect.objectContaining({ code: "invalid-option" }),
  );
});
