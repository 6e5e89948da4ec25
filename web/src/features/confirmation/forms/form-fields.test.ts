import { expect, test } from "vitest";
import { formOf, formOfExample, readForm } from "./form-fields.ts";

test("an example gives a field of its kind for each member", () => {
  const form = formOfExample({ approved_days: 0, note: "", paid: true, more: { a: 1 } });
  expect(form.fields.map(({ name, kind }) => [name, kind])).toEqual([
    ["approved_days", "number"],
    ["note", "text"],
    ["paid", "boolean"],
    ["more", "json"],
  ]);
  expect(readForm(form, { approved_days: "3" })).toEqual({
    ok: true,
    value: { approved_days: 3, paid: true, more: { a: 1 } },
  });
});

test("a schema gives labels, bounds, choices and what is needed", () => {
  const form = formOf(
    {
      type: "object",
      properties: {
        days: { type: "integer", title: "Days", minimum: 1, maximum: 30, description: "Working days" },
        kind: { enum: ["a", 2, null] },
        maybe: { type: ["string", "null"] },
      },
      required: ["days", "kind"],
    },
    { days: 4 },
  );
  expect(form.fields[0]).toMatchObject({ label: "Days", kind: "integer", required: true, initial: "4" });
  expect(form.fields[0]?.note).toBe("Working days · at least 1, at most 30");
  expect(form.fields[2]).toMatchObject({ kind: "text", required: false });
  expect(readForm(form, { days: "1.5" })).toEqual({
    ok: false,
    faults: { days: "This must be a whole number.", kind: "This field is required." },
  });
  expect(readForm(form, { kind: "2" })).toEqual({ ok: true, value: { days: 4, kind: 2 } });
});

test("what is no object is asked for whole", () => {
  expect(readForm(formOf({ type: "string" }, undefined), { "": "yes" })).toEqual({ ok: true, value: "yes" });
  expect(readForm(formOfExample([1, 2]), {})).toEqual({ ok: true, value: [1, 2] });
  expect(readForm(formOfExample([1, 2]), { "": "[" })).toMatchObject({ ok: false });
});

test("numbers are numbers, and not what JavaScript would make of them", () => {
  const form = formOf({ type: "object", properties: { n: { type: "number" } }, required: ["n"] }, undefined);
  for (const text of ["", " ", "Infinity", "NaN", "1,5", "3 days"]) {
    expect(readForm(form, { n: text }).ok, JSON.stringify(text)).toBe(false);
  }
  expect(readForm(form, { n: "-1e3" })).toEqual({ ok: true, value: { n: -1000 } });
});
