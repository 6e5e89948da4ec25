import { expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../protocol/index.ts";
import { readShape } from "../common/schema/schema.ts";
import { parseChanged } from "./changed-args.ts";

const CENTS = z.number().transform((dollars) => dollars * 100);
const WHEN = z.union([z.literal("now"), z.string().transform((text) => new Date(text))]);

/** A model sends `given`, a person sees what became of it and sends that back with a change. */
async function change(schema: z.ZodType, given: JsonObject, changes: (shown: JsonObject) => JsonObject) {
  const shape = readShape(schema);
  const first = await shape.parse(given);
  if (!first.ok) throw new Error(first.message);
  const { args, unparsed } = first;
  const changed = await parseChanged({ args, unparsed }, changes(args), (sent) => shape.parse(sent));
  return changed.ok ? changed : { ok: false, field: changed.field };
}

const DOLLARS = z.object({ amount: CENTS, note: z.string() });
const PAID = { amount: 5, note: "a" };

test.each<[string, z.ZodType, JsonObject, { readonly change: JsonObject; readonly field: string }]>([
  ["a field that was left alone", DOLLARS, PAID, { change: { note: "b" }, field: "amount" }],
  ["the field that was changed", DOLLARS, PAID, { change: { amount: 400 }, field: "amount" }],
  [
    "a text",
    z.object({ path: z.string().transform((path) => `/data/${path}`), mode: z.string() }),
    { path: "x", mode: "r" },
    { change: { mode: "w" }, field: "path" },
  ],
  [
    "a member beside the one that was changed",
    z.object({ pay: DOLLARS }),
    { pay: PAID },
    { change: { pay: { amount: 500, note: "b" } }, field: "pay.amount" },
  ],
  [
    "a row of a list",
    z.object({ rows: z.array(DOLLARS), note: z.string() }),
    { rows: [PAID], note: "a" },
    { change: { note: "b" }, field: "rows" },
  ],
  [
    "what goes there and back",
    z.object({ owed: z.number().transform((owed) => -owed), note: z.string() }),
    { owed: 5, note: "a" },
    { change: { note: "b" }, field: "owed" },
  ],
  [
    "what is derived from another field",
    z.object({ n: z.number() }).transform(({ n }) => ({ n, total: n * 10 })),
    { n: 1 },
    { change: { n: 2 }, field: "total" },
  ],
  [
    "what it no longer takes",
    z.object({ at: z.string().transform(Number), note: z.string() }),
    { at: "5", note: "a" },
    { change: { note: "b" }, field: "at" },
  ],
])(
  "a schema that, parsing twice, makes something else of %s is refused with the field named",
  async (...row) => {
    const [, schema, given, { change: changes, field }] = row;
    expect(await change(schema, given, (shown) => ({ ...shown, ...changes }))).toEqual({ ok: false, field });
  },
);

test("a schema that leaves its own output as it is fits: coerced, trimmed, or filled in by a default", async () => {
  const schema = z.object({ n: z.coerce.number(), name: z.string().trim(), note: z.string().default("-") });
  const changed = await change(schema, { n: "5", name: " bo " }, () => ({ n: "7", name: " al " }));
  expect(changed).toMatchObject({ ok: true, args: { n: 7, name: "al", note: "-" }, unparsed: false });
});

test("where the card shows the input, the change is to the input, and is parsed once: when the body is entered", async () => {
  const schema = z.object({ when: WHEN, amount: CENTS });
  const changed = await change(schema, { when: "2026-01-01", amount: 5 }, (shown) => ({
    ...shown,
    when: "now",
  }));
  expect(changed).toMatchObject({ ok: true, args: { when: "now", amount: 5 }, unparsed: true });
});

test("where the card shows what was parsed, a change that no JSON can show is refused", async () => {
  const schema = z.object({ note: z.string(), when: WHEN });
  const changed = await change(schema, { note: "a", when: "now" }, (shown) => ({
    ...shown,
    when: "2026-01-01",
  }));
  expect(changed).toEqual({ ok: false, field: "when" });
});

test("a schema whose own code throws at a change refuses it", async () => {
  const schema = z.object({
    id: z.string().transform((id) => BigInt(id).toString()),
  });
  expect(await change(schema, { id: "1" }, () => ({ id: "{" }))).toEqual({ ok: false, field: "" });
});
