import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createLedger } from "../../src/stores/index.ts";
import { type AttackedJournal, testJournalAttacks } from "../support/ledger/journal-attacks.ts";
import { useResources } from "../support/resources.ts";

const resources = useResources();

async function open(): Promise<AttackedJournal> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-"));
  resources.add(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "ledger.db");
  const ledger = await createLedger(`sqlite:${path}`);
  resources.add(() => ledger.close());
  const shell = new DatabaseSync(path);
  resources.add(() => shell.close());
  return {
    ledger,
    store: "sqlite",
    run: async (sql) => shell.exec(sql),
    rows: async (sql) => shell.prepare(sql).all(),
  };
}

testJournalAttacks(open);
