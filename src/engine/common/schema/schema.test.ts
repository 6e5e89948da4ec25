import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject, JsonValue } from "../../../protocol/index.ts";
import { readForm, readShape, type StandardSchema } from "./schema.ts";

const cyclic: Record<string, unknown> = { amount: 1 };
cyclic["self"] = cyclic;
cyclic["again"] = [cyclic, cyclic];
const deep = (levels: number): unknown =>
  JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`) as unknown;

const UNUSABLE: readonly (readonly [string, unknown])[] = [
  ["a value that holds itself", cyclic],
  ["a value nested without end", deep(200_000)],
  ["a date", { at: new Date(0) }],
  ["a map", { at: new Map() }],
  ["a big integer", { n: 1n }],
  ["not a number", { n: Number.NaN }],
  ["a function", { f: () => 1 }],
  ["a lone surrogate", { s: "\ud800" }],
  ["a list of undefined", { list: Array.from({ length: 1 }) }],
  ["a list", []],
  ["a text", "{}"],
  ["null", null],
  ["nothing", undefined],
];

describe("without a schema", () => {
  const shape = readShape(undefined);

  test("any JSON object fits, and is what the body gets", async () => {
    const args = { a: [1, { b: null }], "": "x" };
    expect(await shape.parse(args)).toEqual({ ok: true, args, unparsed: false, value: args });
    expect(shape.jsonSchema).toBeUndefined();
  });

  test.each(UNUSABLE)("a value that is not a JSON object does not: %s", async (_, input) => {
    expect(await shape.parse(input)).toMatchObject({ ok: false });
  });

  test("a member set to undefined is not there", async () => {
    const input = { a: 1, b: undefined, c: { d: undefined, e: [{ f: undefined }] } };
    expect(await shape.parse(input)).toMatchObject({ ok: true, args: { a: 1, c: { e: [{}] } } });
    expect(await shape.parse({ list: [undefined] })).toMatchObject({ ok: false });
  });

  test("a member called __proto__ is a member, and no prototype", async () => {
    const outcome = await shape.parse(JSON.parse('{"__proto__": {"admin": true}}'));
    expect(outcome).toMatchObject({ ok: true });
    if (!outcome.ok) return;
    expect(JSON.stringify(outcome.args)).toBe('{"__proto__":{"admin":true}}');
    expect(outcome.args["admin"]).toBeUndefined();
  });
});

describe("with a JSON Schema", () => {
  const schema: JsonObject = {
    type: "object",
    properties: { amount: { type: "number" } },
    required: ["amount"],
    additionalProperties: false,
  };
  const shape = readShape(schema);

  test("arguments that fit are bound unchanged", async () => {
    expect(await shape.parse({ amount: 5 })).toEqual({
      ok: true,
      args: { amount: 5 },
      unparsed: false,
      value: { amount: 5 },
    });
    expect(shape.jsonSchema).toBe(schema);
  });

  test("what does not fit names the field", async () => {
    expect(await shape.parse({ amount: "5" })).toMatchObject({ ok: false, field: "amount" });
    expect(await shape.parse({})).toMatchObject({ ok: false, field: "amount" });
    expect(await shape.parse({ amount: 5, to: "me" })).toMatchObject({ ok: false, field: "to" });
  });

  test.each(UNUSABLE)("a value that is not a JSON object does not fit: %s", async (_, input) => {
    expect(await shape.parse(input)).toMatchObject({ ok: false });
  });
});

describe("with zod", () => {
  test("defaults and coercions are bound: what was shown is what runs", async () => {
    const shape = readShape(
      z.object({
        amount: z.coerce.number(),
        currency: z.string().default("EUR"),
        note: z.string().optional(),
      }),
    );
    expect(await shape.parse({ amount: "5", extra: "dropped" })).toEqual({
      ok: true,
      args: { amount: 5, currency: "EUR" },
      unparsed: false,
      value: { amount: 5, currency: "EUR" },
    });
  });

  test("it describes itself as JSON Schema", () => {
    expect(readShape(z.object({ amount: z.number() })).jsonSchema).toMatchObject({
      type: "object",
      properties: { amount: { type: "number" } },
      required: ["amount"],
    });
  });

  test("what parses to something that is not JSON binds the input, and the body gets what it parses to", async () => {
    const shape = readShape(z.object({ at: z.string().transform((text) => new Date(text)) }));
    expect(await shape.parse({ at: "2026-01-01", b: undefined })).toEqual({
      ok: true,
      args: { at: "2026-01-01" },
      unparsed: true,
      value: { at: new Date("2026-01-01") },
    });
  });

  test("a transform that gives JSON binds what it gives", async () => {
    const shape = readShape(z.object({ name: z.string().transform((text) => text.trim()) }));
    expect(await shape.parse({ name: " ana " })).toMatchObject({ args: { name: "ana" }, unparsed: false });
  });

  test("a schema that no JSON Schema can say is refused when it is read, before anybody is asked", () => {
    expect(() => readShape(z.object({ at: z.date() }))).toThrow(
      expect.objectContaining({ code: "invalid-option" }) as Error,
    );
  });

  test("the first fault is named by its path", async () => {
    const shape = readShape(z.object({ to: z.object({ lines: z.array(z.string()) }) }));
    expect(await shape.parse({ to: { lines: ["a", 2] } })).toMatchObject({ ok: false, field: "to.lines.1" });
    expect(await shape.parse(null)).toMatchObject({ ok: false, field: "" });
  });

  test("asynchronous refinements are waited for", async () => {
    const shape = readShape(z.object({ n: z.number().refine(async (n) => n > 1) }));
    expect(await shape.parse({ n: 1 })).toMatchObject({ ok: false, field: "n" });
    expect(await shape.parse({ n: 2 })).toMatchObject({ ok: true });
  });

  test("a record of anything keeps __proto__ out of the prototype", async () => {
    const outcome = await readShape(z.record(z.string(), z.unknown())).parse(
      JSON.parse('{"__proto__": {"admin": true}, "a": 1}'),
    );
    expect(outcome).toMatchObject({ ok: true });
    if (!outcome.ok) return;
    expect(Object.getPrototypeOf(outcome.args)).toBe(Object.prototype);
    expect((outcome.args as { admin?: unknown }).admin).toBeUndefined();
  });
});

test("a Standard Schema of another vendor, without JSON Schema, parses all the same", async () => {
  const even: StandardSchema<unknown, { n: number }> = {
    "~standard": {
      version: 1,
      vendor: "handmade",
      validate: (value) => {
        const { n } = value as { n: number };
        return n % 2 === 0 ? { value: { n } } : { issues: [{ message: "odd", path: [{ key: "n" }] }] };
      },
    },
  };
  const shape = readShape(even);
  expect(shape.jsonSchema).toBeUndefined();
  expect(await shape.parse({ n: 2 })).toMatchObject({ ok: true, args: { n: 2 } });
  expect(await shape.parse({ n: 1 })).toEqual({ ok: false, field: "n", message: "odd" });
});

const asIs: StandardSchema = {
  "~standard": { version: 1, vendor: "handmade", validate: (value) => ({ value }) },
};

test("neither the input nor what it parses to is JSON: refused", async () => {
  expect(await readShape(asIs).parse({ at: new Date(0) })).toMatchObject({ ok: false, field: "" });
});

test("a form is described by JSON Schema, or refused before anybody is asked", () => {
  const days = { type: "object", required: ["days"] };
  expect(readForm(undefined)).toBeUndefined();
  expect(readForm(days)).toMatchObject({ jsonSchema: days });
  expect(readForm(z.object({ days: z.number() }))).toMatchObject({ jsonSchema: { required: ["days"] } });
  expect(() => readForm(asIs)).toThrow(expect.objectContaining({ code: "invalid-option" }) as Error);
});

test.each<[string, z.ZodType, JsonValue, unknown]>([
  ["a check in code", z.object({ days: z.number().refine((days) => days <= 5) }), { days: 4 }, { days: 4 }],
  ["a conversion", z.object({ days: z.string().transform(Number) }), { days: "5" }, { days: 5 }],
  ["a default", z.object({ days: z.number().default(3) }), {}, { days: 3 }],
  [
    "no member that it does not name",
    z.object({ days: z.number() }),
    { days: 1, confirmed: false },
    { days: 1 },
  ],
  ["what is not JSON", z.iso.date().transform((day) => new Date(day)), "2026-01-01", new Date("2026-01-01")],
])("what a tool gets of a form is what its schema says: %s", async (_, schema, sent, value) => {
  expect(await readForm(schema)?.read(sent)).toEqual({ ok: true, value });
});

test.each<[string, z.ZodType, JsonValue, string]>([
  ["a check in code", z.object({ days: z.number().refine((days) => days <= 5) }), { days: 500 }, "days"],
  ["a check of all of it", z.object({ a: z.number() }).refine(({ a }) => a > 1), { a: 1 }, ""],
  ["what is too short once trimmed", z.object({ note: z.string().trim().min(3) }), { note: "    " }, "note"],
  ["code that throws", z.string().transform(BigInt), "{", ""],
])("what does not fit a form names its field: %s", async (_, schema, sent, field) => {
  expect(await readForm(schema)?.read(sent)).toMatchObject({ ok: false, field });
});

/** A schema that was made in another realm, as test runners do: its promises are not ours. */
function foreignSchema(result: object): StandardSchema {
  const validate = (): never => runInNewContext("Promise.resolve(result)", { result }) as never;
  return { "~standard": { version: 1, vendor: "other", validate } };
}

test("a Standard Schema whose promise is of another realm refuses what it refuses", async () => {
  const shape = readShape(foreignSchema({ issues: [{ message: "too much" }] }));
  expect(await shape.parse({ amount: 1 })).toMatchObject({ ok: false, message: "too much" });
});

test("a Standard Schema that gives no result refuses", async () => {
  expect(await readShape(foreignSchema({})).parse({ amount: 1 })).toMatchObject({ ok: false });
});
