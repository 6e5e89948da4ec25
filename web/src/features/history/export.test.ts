import { expect, test } from "vitest";
import type { Confirmation } from "../../api/types.ts";
import { toCsv } from "./export.ts";

const item = (user: string, reason: string): Confirmation =>
  ({
    id: "c1",
    status: "denied",
    app: "desk",
    path: ["desk"],
    tool: "pay",
    args: { a: 1 },
    user,
    requestedAt: "2026-01-01T00:00:00.000Z",
    why: ["rule"],
    decision: { confirmed: false, by: { id: "boss", authenticated: true }, via: "api", at: "t", reason },
  }) as unknown as Confirmation;

test("what a spreadsheet would calculate is text", () => {
  for (const formula of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\n=1"]) {
    const csv = toCsv([item(formula, "no")]);
    expect(csv, JSON.stringify(formula)).not.toMatch(/(^|,|\r\n)"?\s*[=+\-@]/);
  }
});

test("quotes, commas and lines stay inside their cell, and hidden characters are shown", () => {
  const csv = toCsv([item("ana", 'he said "no",\nthen \u202Eleft')]);
  expect(csv).toContain('"he said ""no"",\nthen ⟨U+202E⟩left"');
  expect(csv.startsWith("id,status,app")).toBe(true);
  expect(csv.endsWith("\r\n")).toBe(true);
});
