import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { useResources } from "../../../../test/support/resources.ts";
import { openDatabase } from "../connection/database.ts";
import { openSqliteLedger } from "../open.ts";
import { inspectSqliteLedger } from "./inspect.ts";
import { type Migration, migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

const PROCESSES = 8;
const OPEN_PROGRAM = new URL("../testing/open-program.ts", import.meta.url);

interface Started {
  readonly type: "started";
}
interface Opened {
  readonly type: "opened";
  readonly digestKey: string;
}

const resources = useResources();
const newest = MIGRATIONS.at(-1)?.version ?? 0;

test("eight processes that open a new file at once find one schema and one digest key", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const children = Array.from({ length: PROCESSES }, () =>
    resources.child<Started | Opened>(OPEN_PROGRAM, { args: [path] }),
  );
  await Promise.all(children.map((child) => child.line("started")));
  for (const child of children) child.send({ open: true });
  const opened = await Promise.all(children.map((child) => child.line("opened")));
  expect(new Set(opened.map(({ digestKey }) => digestKey)).size).toBe(1);
  const ends = await Promise.all(children.map(({ ended }) => ended));
  expect(ends.map(({ code }) => code)).toEqual(children.map(() => 0));
});

test("a ledger of a newer version is refused and left as it is", async () => {
  const path = join(await resources.folder(), "ledger.db");
  await (await openSqliteLedger({ path })).close();
  const raw = new DatabaseSync(path);
  raw.exec(`pragma user_version = ${newest + 1}`);
  await expect(openSqliteLedger({ path })).rejects.toMatchObject({
    code: "ledger-newer",
    message: expect.stringContaining("Upgrade Countersign") as unknown,
    details: { found: newest + 1, known: newest },
  });
  expect(raw.prepare("pragma user_version").get()).toEqual({ user_version: newest + 1 });
  raw.close();
});

test("a ledger of before the schema began anew is of another build, whatever its number", async () => {
  const path = join(await resources.folder(), "ledger.db");
  await (await openSqliteLedger({ path })).close();
  const raw = new DatabaseSync(path);
  raw.exec("update meta set value = 'other' where name = 'fingerprint-1'; pragma user_version = 4");
  await expect(openSqliteLedger({ path })).rejects.toMatchObject({
    code: "ledger-mismatch",
    message: expect.stringContaining("create a new ledger") as unknown,
  });
  raw.close();
});

test("a migration that fails leaves nothing of itself or of those before it", async () => {
  const database = await openDatabase({ path: ":memory:" });
  const broken: Migration = {
    version: 2,
    texts: ["create table half (x)", "insert into missing values (1)"],
  };
  const first: Migration = { version: 1, texts: ["create table whole (x)"] };
  await expect(migrate(database, [first, broken])).rejects.toMatchObject({ code: "internal" });
  expect(database.all("select name from sqlite_schema")).toEqual([]);
  expect(database.get("pragma user_version")).toEqual([0]);
  database.close();
});

const MAKE_META = "create table meta (name text primary key, value any)";

test("only migrations newer than the file are applied", async () => {
  const database = await openDatabase({ path: ":memory:" });
  const applied: number[] = [];
  const step = (version: number): Migration => ({
    version,
    texts: [version === 1 ? MAKE_META : `create table t${version} (x)`],
    fill: () => {
      applied.push(version);
    },
  });
  await migrate(database, [step(1)]);
  await migrate(database, [step(1), step(2), step(3)]);
  await migrate(database, [step(1), step(2), step(3)]);
  expect(applied).toEqual([1, 2, 3]);
  database.close();
});

test("a file whose schema has the same number and is another build's is refused, and says so to whoever looks", async () => {
  const path = join(await resources.folder(), "ledger.db");
  await (await openSqliteLedger({ path })).close();
  expect(inspectSqliteLedger(path)).toMatchObject({ version: newest, isSameBuild: true });
  const raw = new DatabaseSync(path);
  raw.exec(`update meta set value = 'other' where name = 'fingerprint-${newest}'`);
  await expect(openSqliteLedger({ path })).rejects.toMatchObject({
    code: "ledger-mismatch",
    message: expect.stringContaining("a different build") as unknown,
  });
  expect(inspectSqliteLedger(path)).toMatchObject({ version: newest, isSameBuild: false });
  raw.close();
});

test("a process that runs while a newer one migrates the file loses its lease", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const ledger = await openSqliteLedger({ path });
  resources.add(() => ledger.close());
  const owner = { id: "o", host: "h", pid: 1 };
  expect(await ledger.owners.beat(owner, 1_000)).toBe(true);
  const raw = new DatabaseSync(path);
  raw.exec(`pragma user_version = ${newest + 1}`);
  raw.close();
  await expect(ledger.owners.beat(owner, 1_000)).rejects.toMatchObject({ code: "ledger-newer" });
});

test("another program's database is refused and left as it is", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const raw = new DatabaseSync(path);
  raw.exec("create table customers (name text)");
  await expect(openSqliteLedger({ path })).rejects.toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining("another program") as unknown,
  });
  expect(raw.prepare("select name from sqlite_schema").all()).toEqual([{ name: "customers" }]);
  raw.close();
});

test("a file that is no database, and a path that cannot be opened, are named with what to do", async () => {
  const folder = await resources.folder();
  writeFileSync(join(folder, "letter.txt"), "Dear reader, this is not a database. ".repeat(100));
  for (const path of [join(folder, "letter.txt"), join(folder, "absent/ledger.db"), folder]) {
    await expect(openSqliteLedger({ path })).rejects.toMatchObject({
      code: "ledger-unreachable",
      message: expect.stringContaining(path) as unknown,
    });
  }
});
