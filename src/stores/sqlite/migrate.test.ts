import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openDatabase } from "./database.ts";
import { openSqliteLedger } from "./index.ts";
import { type Migration, migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { startChild } from "./test-support/child.ts";
import { createDirectory } from "./test-support/sqlite-subject.ts";

const PROCESSES = 8;
const newest = MIGRATIONS.at(-1)?.version ?? 0;

test("eight processes that open a new file at once find one schema and one digest key", async () => {
  using directory = createDirectory();
  const children = Array.from({ length: PROCESSES }, () => startChild("./open-child.ts", directory.file()));
  await using stack = new AsyncDisposableStack();
  for (const child of children) stack.use(child);
  await Promise.all(children.map((child) => child.next()));
  for (const child of children) child.send({ open: true });
  const keys = await Promise.all(children.map((child) => child.next<{ digestKey: string }>()));
  expect(new Set(keys.map(({ digestKey }) => digestKey)).size).toBe(1);
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(children.map(() => 0));
});

test("a ledger of a newer version is refused and left as it is", async () => {
  using directory = createDirectory();
  await (await openSqliteLedger({ path: directory.file() })).close();
  const raw = new DatabaseSync(directory.file());
  raw.exec(`pragma user_version = ${newest + 1}`);
  await expect(openSqliteLedger({ path: directory.file() })).rejects.toMatchObject({
    code: "ledger-newer",
    message: expect.stringContaining("upgrade Countersign") as unknown,
    details: { found: newest + 1, known: newest },
  });
  expect(raw.prepare("pragma user_version").get()).toEqual({ user_version: newest + 1 });
  raw.close();
});

test("a migration that fails leaves nothing of itself or of those before it", async () => {
  const database = await openDatabase({ path: ":memory:" });
  const broken: Migration = {
    version: 2,
    apply(driver) {
      driver.exec("create table half (x)");
      driver.exec("insert into missing values (1)");
    },
  };
  const first: Migration = { version: 1, apply: (driver) => driver.exec("create table whole (x)") };
  await expect(migrate(database, [first, broken])).rejects.toMatchObject({ code: "internal" });
  expect(database.all("select name from sqlite_schema")).toEqual([]);
  expect(database.get("pragma user_version")).toEqual([0]);
  database.close();
});

test("only migrations newer than the file are applied", async () => {
  const database = await openDatabase({ path: ":memory:" });
  const applied: number[] = [];
  const step = (version: number): Migration => ({
    version,
    apply(driver) {
      applied.push(version);
      driver.exec(`create table t${version} (x)`);
    },
  });
  await migrate(database, [step(1)]);
  await migrate(database, [step(1), step(2), step(3)]);
  await migrate(database, [step(1), step(2), step(3)]);
  expect(applied).toEqual([1, 2, 3]);
  database.close();
});

test("another program's database is refused and left as it is", async () => {
  using directory = createDirectory();
  const raw = new DatabaseSync(directory.file());
  raw.exec("create table customers (name text)");
  await expect(openSqliteLedger({ path: directory.file() })).rejects.toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining("another program") as unknown,
  });
  expect(raw.prepare("select name from sqlite_schema").all()).toEqual([{ name: "customers" }]);
  raw.close();
});

test("a file that is no database, and a path that cannot be opened, are named with what to do", async () => {
  using directory = createDirectory();
  writeFileSync(directory.file("letter.txt"), "Dear reader, this is not a database. ".repeat(100));
  for (const path of [directory.file("letter.txt"), directory.file("absent/ledger.db"), directory.path]) {
    await expect(openSqliteLedger({ path })).rejects.toMatchObject({
      code: "ledger-unreachable",
      message: expect.stringContaining(path) as unknown,
    });
  }
});
