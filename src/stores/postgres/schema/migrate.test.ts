import { expect, test, vi } from "vitest";
import { connect, createDatabase, createEmptyDatabase } from "../../../../test/support/postgres/database.ts";
import { execute } from "../../../../test/support/postgres/server.ts";
import { useResources } from "../../../../test/support/resources.ts";
import { SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { type Database, openDatabase as openUrl } from "../connection/index.ts";
import { inspectPostgresLedger } from "../inspect.ts";
import { migratePostgres, openPostgresLedger } from "../open.ts";
import { type Migration, migrate, NEWEST } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";

const REPLICAS = 10;
const SCHEMA = "select value::integer as version from countersign.meta where name = 'schema'";
const resources = useResources();

async function open(url: string, options: { readonly migrate?: boolean } = {}) {
  const ledger = await openPostgresLedger({ url, ...options });
  resources.add(() => ledger.close());
  return ledger;
}

async function openDatabase(url: string): Promise<Database> {
  const database = await openUrl(url);
  resources.add(() => database.close());
  return database;
}

test("a database without the schema is refused, with what to do, and left as it is", async () => {
  const url = await createEmptyDatabase(resources);
  await expect(open(url)).rejects.toMatchObject({
    code: "ledger-older",
    message: expect.stringContaining("countersign migrate") as unknown,
    details: { found: 0, needed: NEWEST },
  });
  expect(await inspectPostgresLedger(url)).toEqual({
    exists: false,
    version: 0,
    newest: NEWEST,
    isSameBuild: true,
  });
});

test("ten replicas that may migrate start at once and find one schema and one digest key", async () => {
  const url = await createEmptyDatabase(resources);
  const ledgers = await Promise.all(Array.from({ length: REPLICAS }, () => open(url, { migrate: true })));
  expect(new Set(ledgers.map(({ digestKey }) => Buffer.from(digestKey).toString("hex"))).size).toBe(1);
  expect(await inspectPostgresLedger(url)).toEqual({
    exists: true,
    version: NEWEST,
    newest: NEWEST,
    isSameBuild: true,
  });
});

test("a dry run says from where to where, and does nothing; a second run finds nothing to do", async () => {
  const url = await createEmptyDatabase(resources);
  expect(await migratePostgres(url, { dryRun: true })).toEqual({ from: 0, to: NEWEST });
  expect(await inspectPostgresLedger(url)).toMatchObject({ exists: false });
  expect(await migratePostgres(url)).toEqual({ from: 0, to: NEWEST });
  expect(await migratePostgres(url)).toEqual({ from: NEWEST, to: NEWEST });
});

const next = (step: number, breaking: boolean): Migration => ({
  version: NEWEST + step,
  ...(breaking ? { breaking } : {}),
  texts: [],
});

test("a newer schema is used while nothing in it is breaking, and refused once something is", async () => {
  const url = await createDatabase(resources);
  const database = await openDatabase(url);
  resources.add(() =>
    execute(
      url,
      `update countersign.meta set value = '${NEWEST}' where name = 'schema'`,
      "update countersign.meta set value = '0' where name = 'breaking'",
    ),
  );
  await migrate(database, [...MIGRATIONS, next(1, false)]);
  const ledger = await open(url);
  expect(await new SessionWriter(ledger, "s1").commit()).toEqual({ ok: true });
  await migrate(database, [...MIGRATIONS, next(1, false), next(2, true)]);
  const refused = { code: "ledger-newer", details: { found: NEWEST + 2, known: NEWEST } };
  await expect(open(url)).rejects.toMatchObject(refused);
  await expect(open(url, { migrate: true })).rejects.toMatchObject(refused);
  await expect(migratePostgres(url)).rejects.toMatchObject({ code: "ledger-newer" });
});

test("a migration that fails leaves nothing of itself or of those before it", async () => {
  const url = await createEmptyDatabase(resources);
  const broken: Migration = {
    version: NEWEST + 1,
    texts: ["create table countersign.half (x integer)", "insert into countersign.missing values (1)"],
  };
  const failing = migrate(await openDatabase(url), [...MIGRATIONS, broken]);
  await expect(failing).rejects.toMatchObject({ code: "internal" });
  expect(await inspectPostgresLedger(url)).toMatchObject({ version: 0 });
});

test("whoever waits for another's migration finds it done, however long it takes", async () => {
  const url = await createEmptyDatabase(resources);
  const holder = await connect(resources, url);
  await holder.query("begin");
  await holder.query("select pg_advisory_xact_lock(hashtextextended('countersign', 4849336966747728))");
  const waiting = migratePostgres(`${url}?query_timeout=1`);
  const blocked = "select 1 from pg_locks where locktype = 'advisory' and not granted";
  while ((await holder.query(blocked)).rowCount === 0);
  await holder.query("commit");
  expect(await waiting).toEqual({ from: 0, to: NEWEST });
  expect((await execute(url, SCHEMA))[0]?.rows).toEqual([{ version: NEWEST }]);
});

test("a migration that needs a table which somebody reads for long does not hold up commits, and is made afterwards", async () => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  const writer = new SessionWriter(await open(url), "s1");
  const holder = await connect(resources, url);
  await holder.query("begin");
  await holder.query("select 1 from countersign.log");
  const step = { version: NEWEST + 1, texts: ["alter table countersign.log add column more text"] };
  const migrating = migrate(await openDatabase(url), [...MIGRATIONS, step]);
  const waits = "select 1 from pg_locks where relation = 'countersign.log'::regclass and not granted";
  while ((await holder.query(waits)).rowCount === 0);
  expect(await writer.commit()).toEqual({ ok: true });
  expect((await execute(url, SCHEMA))[0]?.rows).toEqual([{ version: NEWEST }]);
  await holder.query("commit");
  expect(await migrating).toMatchObject({ version: NEWEST });
  expect((await execute(url, SCHEMA))[0]?.rows).toEqual([{ version: NEWEST + 1 }]);
});

const OTHERS = { code: "ledger-mismatch", message: expect.stringContaining("a different build") as unknown };
const forge = (version: number): string =>
  `update countersign.meta set value = 'other' where name = 'fingerprint-${version}'`;

test("a schema of the same number that another build made is refused, by whoever opens and by whoever migrates", async () => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  await execute(url, forge(NEWEST));
  await expect(open(url)).rejects.toMatchObject(OTHERS);
  await expect(open(url, { migrate: true })).rejects.toMatchObject(OTHERS);
  await expect(migratePostgres(url)).rejects.toMatchObject(OTHERS);
  expect(await inspectPostgresLedger(url)).toMatchObject({ version: NEWEST, isSameBuild: false });
  await execute(url, `delete from countersign.meta where name like 'fingerprint-%'`);
  await expect(open(url)).rejects.toMatchObject(OTHERS);
});

test("a process that runs while a breaking migration is made stops, and says why", async () => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  const ledger = await open(url);
  const writer = new SessionWriter(ledger, "s1");
  await writer.commit([writer.journal("made")]);
  const breaking: Migration = {
    version: NEWEST + 1,
    breaking: true,
    texts: ["alter table countersign.log rename column body to text"],
  };
  await migrate(await openDatabase(url), [...MIGRATIONS, breaking]);
  const newer = { code: "ledger-newer", details: { found: NEWEST + 1 } };
  await expect(writer.commit([writer.journal("next")])).rejects.toMatchObject(newer);
  // Also what would still work is refused: nothing is claimed, and the process is not ready.
  await expect(ledger.owners.beat({ id: "o", host: "h", pid: 1 }, 1_000)).rejects.toMatchObject(newer);
  await expect(ledger.journal.lastCheckpoint()).rejects.toMatchObject(newer);
});

test("it is noticed also where no statement fails, at a heartbeat", async () => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  const ledger = await open(url);
  await migrate(await openDatabase(url), [...MIGRATIONS, next(1, true)]);
  const owner = { id: "o", host: "h", pid: 1 };
  expect(await ledger.owners.beat(owner, 1_000)).toBe(true);
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 11_000);
  resources.add(() => vi.restoreAllMocks());
  await expect(ledger.owners.beat(owner, 1_000)).rejects.toMatchObject({ code: "ledger-newer" });
  await expect(ledger.due([], 1)).rejects.toMatchObject({ code: "ledger-newer" });
});
