import { expect, test } from "vitest";
import { meaningOf } from "./meaning.ts";

test.each([
  ["amount", 2500, { currency: "EUR" }, "2,500 EUR"],
  ["amount", 90, { currency: "EUR" }, undefined],
  ["amount", 2500, {}, undefined],
  ["timeout_seconds", 90, {}, "1 min 30 s"],
  ["note", "90", { currency: "EUR" }, undefined],
])("%s %s beside %o means %s", (name, value, others, meaning) => {
  expect(meaningOf(name, value, { [name]: value, ...others })).toBe(meaning);
});
