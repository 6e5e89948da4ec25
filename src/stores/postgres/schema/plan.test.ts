import { expect, test } from "vitest";
import { createEmptyDatabase } from "../../../../test/support/postgres/database.ts";
import { execute } from "../../../../test/support/postgres/server.ts";
import { useResources } from "../../../../test/support/resources.ts";
import { type Database, openDatabase as openUrl } from "../connection/index.ts";
import { inspectPostgresLedger } from "../inspect.ts";
import { migratePostgres, planPostgresMigration } from "../open.ts";
import { locksOf } from "./locks.ts";
import { type Migration, migrate, NEWEST } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";
import { planMigration } from "./plan.ts";

const resources = useResources();
const ROWS = 250_000;

async function openDatabase(url: string): Promise<Database> {
  const database = await openUrl(url);
  resources.add(() => database.close());
  return database;
}

test("a plan of an empty database names what would be made, without locks, and makes nothing", async () => {
  const url = await createEmptyDatabase(resources);
  const plan = await planPostgresMigration(url);
  expect(plan).toMatchObject({ from: 0, to: NEWEST });
  const statements = plan.migrations.flatMap((migration) => migration.statements);
  expect(statements.some(({ text }) => text.startsWith("create table countersign.documents"))).toBe(true);
  expect(statements.every(({ locks, seconds }) => locks.length === 0 && seconds === 0)).toBe(true);
  expect(await inspectPostgresLedger(url)).toMatchObject({ exists: false });
});

test("a plan has the locks that PostgreSQL takes, and an estimate from the number of rows", async () => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  await execute(
    url,
    `insert into countersign.entries (facet, value, sort, id) select 'x', 'y', g, g::text from generate_series(1, ${ROWS}) g`,
    "analyze countersign.entries",
  );
  const texts = [
    "alter table countersign.log add column more text",
    "create index entries_more on countersign.entries (note)",
    "create table countersign.extra (id text); create index extra_id on countersign.extra (id)",
  ];
  const next: Migration = { version: NEWEST + 1, texts };
  const plan = await planMigration(await openDatabase(url), [...MIGRATIONS, next]);
  expect(plan).toMatchObject({ from: NEWEST, to: NEWEST + 1, migrations: [{ breaking: false }] });
  expect(plan.migrations[0]?.statements.map(({ locks, seconds }) => [locks, Math.round(seconds)])).toEqual([
    [[{ table: "log", lock: "ACCESS EXCLUSIVE", blocks: "reads and writes", rows: 0 }], 0],
    [[{ table: "entries", lock: "SHARE", blocks: "writes", rows: ROWS }], 3],
    [[], 0],
    [[], 0],
  ]);
  expect(await inspectPostgresLedger(url)).toMatchObject({ version: NEWEST });
});

/** What the server itself says of a statement's strongest lock on a table. */
async function heldBy(url: string, statement: string, table: string): Promise<readonly string[]> {
  const [found] = await execute(url, `select 'countersign.${table}'::regclass::oid::bigint as oid`);
  const { oid } = (found?.rows ?? [])[0] as { readonly oid: string };
  const results = await execute(
    url,
    "begin",
    statement,
    `select mode from pg_locks where relation = ${oid} and pid = pg_backend_pid()`,
    "rollback",
  );
  const rows = (results[2]?.rows ?? []) as readonly { readonly mode: string }[];
  return rows.map(({ mode }) => mode.replace(/Lock$/, "").toLowerCase());
}

test.each([
  ["alter table countersign.log add column more text", "log"],
  ["alter table countersign.log alter column kinds set not null", "log"],
  ["alter table countersign.documents set (fillfactor = 40)", "documents"],
  ["create index log_more on countersign.log (at)", "log"],
  ["update countersign.items set version = version", "items"],
  ["delete from countersign.items", "items"],
  ["truncate countersign.owners", "owners"],
  ["drop table countersign.owners", "owners"],
])("the lock of `%s` is the server's own", async (statement, table) => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  const [lock] = locksOf(statement, () => true);
  expect(lock).toMatchObject({ table });
  expect(await heldBy(url, statement, table)).toContain(lock?.lock.toLowerCase().replaceAll(" ", ""));
});

test("a process of an older version is told that a migration was breaking, and what to do", async () => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  const breaking: Migration = { version: NEWEST + 1, breaking: true, texts: [] };
  await migrate(await openDatabase(url), [...MIGRATIONS, breaking]);
  const refused = { code: "ledger-newer", message: expect.stringMatching(/breaking.*Upgrade/) as unknown };
  await expect(planPostgresMigration(url)).rejects.toMatchObject(refused);
  await expect(migratePostgres(url)).rejects.toMatchObject(refused);
});
