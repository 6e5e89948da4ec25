import { expect, test } from "vitest";
import { signReceipt } from "./format.ts";
import { parseReceipt } from "./parse-receipt.ts";
import { signingKey } from "./signing-key.ts";

const RECEIPT = signReceipt(
  {
    ledger: "l",
    target: "t",
    number: 1,
    follows: "",
    head: "0:empty",
    commits: 0,
    at: "2026-01-01T00:00:00.000Z",
  },
  signingKey("a secret"),
);

test("a receipt has one text, in whatever order a database gives its members back", () => {
  const reversed = Object.fromEntries(Object.entries(RECEIPT).toReversed());
  expect(JSON.stringify(parseReceipt(JSON.stringify(reversed)))).toBe(JSON.stringify(RECEIPT));
});

test.each(Object.keys(RECEIPT))("without `%s`, or with another type, it is none", (name) => {
  const { [name as keyof typeof RECEIPT]: _left, ...rest } = RECEIPT;
  expect(parseReceipt(JSON.stringify(rest))).toBeUndefined();
  expect(parseReceipt(JSON.stringify({ ...RECEIPT, [name]: null }))).toBeUndefined();
});
