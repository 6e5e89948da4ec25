import { expect, test } from "vitest";
import type { Confirmation, JsonObject } from "../../../api/types.ts";
import { questionOf, questionText } from "./question.ts";

function asking(tool: string, args: JsonObject, more: Partial<Confirmation> = {}): Confirmation {
  const hint = `Approve execution of tool ${tool}?`;
  return { tool, args, hint, status: "requested", ...more } as Confirmation;
}

const TO_PROGRAMS =
  "Please approve or reject the tool call reimburse() by responding with a FunctionResponse with an expected ToolConfirmation payload.";

test.each<[string, JsonObject, string]>([
  [
    "reimburse",
    { amount: 2500, currency: "EUR", purpose: "Team offsite in Lisbon" },
    "Reimburse 2,500 EUR for Team offsite in Lisbon?",
  ],
  ["send_email", { to: "finance@corp.example", subject: "Hello" }, "Send email to finance@corp.example?"],
  ["deleteFile", { path: "reports/2025.csv" }, "Delete file reports/2025.csv?"],
  ["order", { item: "Laptop stand", quantity: 40 }, "Order 40 × Laptop stand?"],
  ["grant_leave", { employee: "cleo", days: 5 }, "Grant leave of 5 days for cleo?"],
  ["delete_user", { user: "bob" }, "Delete user bob?"],
  ["restart", {}, "Restart?"],
  ["send_email", { to: ["ana@x.example", "bo@x.example"] }, "Send email to ana@x.example, bo@x.example?"],
  ["run_sql", { database: "billing", sql: "delete from x" }, "Run SQL on billing?"],
  ["run_command", { command: "npm ci\nrm -rf /" }, "Run command npm ci…?"],
  ["download", { url: "https://bank.example@evil.example/list" }, "Download from evil.example?"],
  ["open_url", { url: "https://bank.example/x" }, "Open URL bank.example?"],
  ["pay", { amount: 10.5, currency: "USD", to: "Ana" }, "Pay 10.50 USD to Ana?"],
])("%s reads like a sentence that a person would write", (tool, args, text) => {
  expect(questionText(asking(tool, args))).toBe(text);
});

test("what the model wrote is told apart from what we wrote", () => {
  const { from, pieces } = questionOf(asking("send_email", { to: "x@corp.example" }));
  expect(from).toBe("us");
  expect(pieces).toEqual([
    { text: "Send email", isModels: false },
    { text: "to", isModels: false },
    { text: "x@corp.example", isModels: true },
    { text: "?", isModels: false },
  ]);
});

test("what an approver changed is not put into the model's mouth", () => {
  const [args, originalArgs] = [
    { item: "stand", quantity: 4 },
    { item: "stand", quantity: 40 },
  ];
  expect(questionText(asking("order", args, { originalArgs, status: "succeeded" }))).toBe(
    "Order 40 × stand?",
  );
  expect(questionText(asking("order", args, { originalArgs }))).toBe("Order 4 × stand?");
});

test("what is meant for programs does not reach a person", () => {
  const args = { amount: 5, purpose: "tea" };
  expect(questionText(asking("reimburse", args, { hint: TO_PROGRAMS }))).toBe("Reimburse 5 for tea?");
  expect(questionText(asking("reimburse", args, { hint: "  " }))).toBe("Reimburse 5 for tea?");
});

test("an author's own hint is the question; what does not fit a title is said", () => {
  const short = questionOf(asking("pay", {}, { hint: "Pay it?" }));
  expect(short).toMatchObject({ from: "author", isShortened: false });
  const long = questionOf(asking("pay", {}, { hint: "Pay it?\nThe invoice is attached." }));
  expect(long).toMatchObject({ pieces: [{ text: "Pay it?" }], isShortened: true });
  expect(questionOf(asking("pay", {}, { hint: "Pay it?", source: "bank" })).from).toBe("server");
});
