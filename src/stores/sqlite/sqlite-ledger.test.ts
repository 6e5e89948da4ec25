import { describe, expect, test } from "vitest";
import { ledgerContract } from "../../engine/ledger.contract.ts";
import { createSubject } from "./test-support/sqlite-subject.ts";

describe("a ledger in a file keeps the contract", () => {
  test.each(ledgerContract)("$name", async ({ run }) => {
    await using subject = createSubject("file");
    await expect(run(subject)).resolves.toBeUndefined();
  });
});

describe("a ledger in memory keeps the contract", () => {
  test.each(ledgerContract.filter(({ needs }) => needs === undefined))("$name", async ({ run }) => {
    await using subject = createSubject("memory");
    await expect(run(subject)).resolves.toBeUndefined();
  });
});
