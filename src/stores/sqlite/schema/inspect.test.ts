import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../connection/database.ts";
import { openSqliteLedger } from "../open.ts";
import { inspectSqliteLedger } from "./inspect.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

const NEWEST = MIGRATIONS.length;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-inspect-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a ledger that is not there is not made by looking", () => {
  const folder = makeFolder();
  expect(inspectSqliteLedger(join(folder, "a.db"))).toEqual({
    exists: false,
    version: 0,
    newest: NEWEST,
    isSameBuild: true,
  });
  expect(inspectSqliteLedger(":memory:")).toMatchObject({ exists: false });
  expect(readdirSync(folder)).toEqual([]);
});

test("an old schema is told, and not migrated by looking", async () => {
  const path = join(makeFolder(), "old.db");
  const database = await openDatabase({ path });
  await migrate(database, MIGRATIONS.slice(0, 1));
  database.close();
  const state = { exists: true, version: 1, newest: NEWEST, isSameBuild: true, exposed: [], damage: [] };
  expect(inspectSqliteLedger(path, { check: true })).toEqual(state);
  expect(inspectSqliteLedger(path, { check: true })).toEqual(state);
});

test("a ledger can be looked at while a process writes it", async () => {
  const path = join(makeFolder(), "a.db");
  const ledger = await openSqliteLedger({ path });
  expect(inspectSqliteLedger(path)).toEqual({
    exists: true,
    version: NEWEST,
    newest: NEWEST,
    isSameBuild: true,
    exposed: [],
  });
  await ledger.close();
});

test("what is no ledger is refused", () => {
  const folder = makeFolder();
  writeFileSync(
    join(folder, "notes.txt"),
    "these are notes, not a database, and long enough to tell them apart",
  );
  expect(() => inspectSqliteLedger(join(folder, "notes.txt"))).toThrow("not a SQLite database");
  const other = new DatabaseSync(join(folder, "other.db"));
  other.exec("create table t (a)");
  other.close();
  expect(() => inspectSqliteLedger(join(folder, "other.db"))).toThrow("is not a Countersign ledger");
});
