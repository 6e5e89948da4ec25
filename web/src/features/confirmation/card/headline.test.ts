import { expect, test } from "vitest";
import { headline } from "./headline.ts";

test("amount, unit and target are found by what arguments are called", () => {
  expect(headline({ note: "x", totalAmount: 12.5, currency: "EUR", recipient_email: "a@b" })).toEqual({
    amount: { name: "totalAmount", text: "12.50 EUR" },
    target: { name: "recipient_email", text: "a@b" },
  });
});

test("an amount in words is no amount, and nothing is made up", () => {
  expect(headline({ amount: "all of it", deep: { amount: 5 }, flag: true })).toEqual({});
});

test("a long value is cut between characters", () => {
  const { target } = headline({ path: "😀".repeat(200) });
  expect(target?.text).toBe(`${"😀".repeat(80)}…`);
});

test("a large number keeps all its digits", () => {
  expect(headline({ amount: 1234567.891 }).amount?.text).toMatch(/^1\D?234\D?567\D891$/);
});

test("a count is told as one", () => {
  expect(headline({ item: "desk", quantity: 3 })).toMatchObject({
    amount: { text: "3 ×" },
    target: { text: "desk" },
  });
  expect(headline({ approved_days: 5 }).amount?.text).toBe("5 days");
});
