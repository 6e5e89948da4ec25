import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { type Ledger, ManualClock } from "../../engine/index.ts";
import { type LedgerSubject, ledgerContract } from "../../engine/ledger/ledger.contract.ts";
import { openSqliteLedger } from "./open.ts";

const resources = useResources();

function createSubject(pathOf: (ledger: number) => string): LedgerSubject {
  const clock = new ManualClock();
  let ledgers = 0;
  const openLast = async (): Promise<Ledger> => {
    const ledger = await openSqliteLedger({ path: pathOf(ledgers), clock });
    resources.add(() => ledger.close());
    return ledger;
  };
  return {
    clock,
    open: () => {
      ledgers += 1;
      return openLast();
    },
    reopen: openLast,
  };
}

describe("a ledger in a file keeps the contract", () => {
  test.each(ledgerContract)("$name", async ({ run }) => {
    const folder = await resources.folder();
    const subject = createSubject((ledger) => join(folder, `ledger-${ledger}.db`));
    await expect(run(subject)).resolves.toBeUndefined();
  });
});

describe("a ledger in memory keeps the contract", () => {
  test.each(ledgerContract.filter(({ needs }) => needs === undefined))("$name", async ({ run }) => {
    const subject = createSubject(() => ":memory:");
    await expect(run(subject)).resolves.toBeUndefined();
  });
});
