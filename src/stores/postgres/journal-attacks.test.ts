import { isLong } from "../../../test/support/effort.ts";
import { type AttackedJournal, testJournalAttacks } from "../../../test/support/ledger/journal-attacks.ts";
import { connect, createDatabase } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";
import { createLedger } from "../index.ts";

const resources = useResources();

async function open(): Promise<AttackedJournal> {
  const url = await createDatabase(resources);
  const ledger = await createLedger(url);
  resources.add(() => ledger.close());
  const shell = await connect(resources, url);
  await shell.query("set search_path = countersign");
  return {
    ledger,
    store: "postgres",
    run: (sql) => shell.query(sql),
    rows: async (sql) => (await shell.query<Record<string, unknown>>(sql)).rows,
  };
}

// What a secret adds does not depend on the store: `npm test` has both on SQLite.
testJournalAttacks(open, isLong ? [true, false] : [false]);
