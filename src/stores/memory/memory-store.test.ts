import { describe, expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { DocumentLedger, ManualClock } from "../../engine/index.ts";
import { type LedgerSubject, ledgerContract } from "../../engine/ledger/ledger.contract.ts";
import { MemoryStore } from "./memory-store.ts";

const resources = useResources();
const CASES = ledgerContract.filter(({ needs }) => needs === undefined);

function createSubject(mostHot?: number): LedgerSubject {
  const clock = new ManualClock();
  return {
    clock,
    open: async () => {
      const ledger = new DocumentLedger(new MemoryStore(clock, mostHot));
      resources.add(() => ledger.close());
      return ledger;
    },
    reopen: () => Promise.reject(new Error("It is gone with its handle.")),
  };
}

describe("a ledger in memory keeps the contract", () => {
  test.each(CASES)("$name", async ({ run }) => {
    await expect(run(createSubject())).resolves.toBeUndefined();
  });
});

describe.each([0, 1_000, 5_000])(
  "with no more than %d bytes of each kind on the heap it keeps it, too",
  (mostHot) => {
    test.each(CASES)("$name", async ({ run }) => {
      await expect(run(createSubject(mostHot))).resolves.toBeUndefined();
    });
  },
);
