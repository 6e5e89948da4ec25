import { describe, expect, test } from "vitest";
import { createDatabase, DatabaseClock } from "../../../test/support/postgres-database.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Ledger } from "../../engine/index.ts";
import { type LedgerSubject, ledgerContract } from "../../engine/ledger/ledger.contract.ts";
import { openPostgresLedger } from "./open.ts";

const resources = useResources();

function createSubject(options: string): LedgerSubject {
  const clock = new DatabaseClock();
  let url = "";
  const openLast = async (): Promise<Ledger> => {
    const ledger = await openPostgresLedger({ url: url + options });
    resources.add(() => ledger.close());
    return ledger;
  };
  return {
    clock,
    open: async () => {
      url = await createDatabase(resources, clock);
      return openLast();
    },
    reopen: openLast,
  };
}

describe("a ledger on PostgreSQL keeps the contract", () => {
  test.each(ledgerContract)("$name", async ({ run }) => {
    await expect(run(createSubject(""))).resolves.toBeUndefined();
  });
});

describe("a ledger on PostgreSQL keeps the contract without prepared statements", () => {
  test.each(ledgerContract)("$name", async ({ run }) => {
    await expect(run(createSubject("?prepare=false"))).resolves.toBeUndefined();
  });
});
