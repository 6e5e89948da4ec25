import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { type Field, type FieldOutcome, formOf } from "./payload-form.ts";

function fieldsOf(schema: JsonObject, payload?: JsonValue): readonly Field[] {
  const form = formOf({ schema, ...(payload === undefined ? {} : { payload }) });
  return form?.kind === "fields" ? form.fields : [];
}

async function read(property: JsonObject, text: string, required = true): Promise<FieldOutcome | undefined> {
  const schema = { type: "object", properties: { x: property }, ...(required ? { required: ["x"] } : {}) };
  return fieldsOf(schema)[0]?.read(text);
}

test("a question that asks for nothing but a yes has no form", () => {
  expect(formOf({})).toBeUndefined();
});

test("a field's prompt says its name, type, purpose, whether it is needed and what is usual", () => {
  const schema = {
    type: "object",
    properties: {
      days: { type: "integer", description: "how many\u001b[2J" },
      note: { type: "string" },
      mood: { enum: ["good", "bad"], default: "good" },
    },
    required: ["days"],
  };
  expect(fieldsOf(schema).map(({ prompt }) => prompt)).toEqual([
    "days (integer, how many⟨U+001B⟩[2J): ",
    "note (string, optional): ",
    'mood (good | bad) ["good"]: ',
  ]);
});

test.each<[JsonObject, string, JsonValue]>([
  [{ type: "integer" }, " 3 ", 3],
  [{ type: "number" }, "2.5", 2.5],
  [{ type: "boolean" }, "Yes", true],
  [{ type: "boolean" }, "no", false],
  [{ type: "string" }, "3", "3"],
  [{ type: "string" }, "two words", "two words"],
  [{ enum: [1, "a"] }, "1", 1],
  [{ type: "array" }, "[1,2]", [1, 2]],
  [{ type: ["string", "null"] }, "null", null],
  [{ type: ["string", "null"] }, "word", "word"],
  [{}, "anything", "anything"],
])("for %j the text %j is the value %j", async (property, text, value) => {
  expect(await read(property, text)).toEqual({ ok: true, value });
});

test.each<[JsonObject, string]>([
  [{ type: "integer" }, "3.5"],
  [{ type: "integer", minimum: 1 }, "0"],
  [{ type: "number" }, "many"],
  [{ type: "boolean" }, "perhaps"],
  [{ type: "string", maxLength: 2 }, "long"],
  [{ enum: ["a", "b"] }, "c"],
  [{ type: "object" }, "{"],
  [{ type: "number" }, ""],
])("for %j the text %j is refused", async (property, text) => {
  expect(await read(property, text)).toMatchObject({ ok: false });
});

test("nothing typed takes what is usual, and leaves out what need not be", async () => {
  expect(await read({ type: "integer", default: 4 }, "")).toEqual({ ok: true, value: 4 });
  expect(await read({ type: "integer" }, "", false)).toEqual({ ok: true, value: undefined });
});

test("an example makes the form where there is no schema, and is what is usual", async () => {
  const form = formOf({ payload: { approved_days: 5, note: "" } });
  const fields = form?.kind === "fields" ? form.fields : [];
  expect(fields.map(({ prompt }) => prompt)).toEqual([
    "approved_days (number) [5]: ",
    'note (string) [""]: ',
  ]);
  expect(await fields[0]?.read("")).toEqual({ ok: true, value: 5 });
  expect(await fields[0]?.read("three")).toMatchObject({ ok: false });
});

test("a zero or null in an example is no answer: the person has to type one", async () => {
  const form = formOf({ payload: { approved_days: 0, until: null } });
  const fields = form?.kind === "fields" ? form.fields : [];
  expect(fields.map(({ prompt }) => prompt)).toEqual(["approved_days (number): ", "until (JSON): "]);
  expect(await fields[0]?.read("")).toMatchObject({ ok: false });
  expect(await fields[0]?.read("0")).toEqual({ ok: true, value: 0 });
  const [days] = fieldsOf(
    { type: "object", properties: { days: { type: "integer", default: 2 } } },
    { days: 0 },
  );
  expect(await days?.read("")).toEqual({ ok: true, value: 2 });
});

test("a payload that is no object is one value", async () => {
  const form = formOf({ schema: { type: "integer" } });
  expect(form?.kind).toBe("value");
  expect(form?.kind === "value" && (await form.field.read("7"))).toEqual({ ok: true, value: 7 });
});
