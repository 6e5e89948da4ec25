import { expect, test } from "vitest";
import { askUser, FunctionTool, tool } from "../../index.ts";

const base = { name: "pay", description: "Pays.", execute: () => "paid" };

test.each<[string, object]>([
  ["approvers", { approvers: { role: ["cfo"] } }],
  ["expiresInMs", { expiresInMs: "60000" }],
  ["secrets", { secrets: ["amount"] }],
  ["amendable", { amendable: "note" }],
  ["onDenied", { onDenied: "ask" }],
])("a tool whose %s cannot be is refused where it is made, and not when it is called", (option, options) => {
  const refused = expect.objectContaining({ code: "invalid-option", details: { option } }) as Error;
  expect(() => tool({ ...base, ...options })).toThrow(refused);
  expect(() => new FunctionTool({ ...base, ...options })).toThrow(refused);
});

test("so is the tool that asks the user", () => {
  expect(() => askUser({ approvers: { role: ["cfo"] } as object })).toThrow(/approvers/);
  expect(() => askUser({ expiresInMs: 0 })).toThrow(/expiresInMs/);
});
