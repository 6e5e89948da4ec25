import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseName, execute, PostgresServer } from "../../../../test/support/postgres/server.ts";
import { useResources } from "../../../../test/support/resources.ts";
import { SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { migratePostgres, openPostgresLedger } from "../open.ts";
import { listPostgresRisks } from "../risks.ts";

const resources = useResources();
let server: PostgresServer;
let url: string;
let client: pg.Client;

// A server of its own, on which nobody else writes, and which writes out nothing before its time.
beforeAll(async () => {
  server = await PostgresServer.start([
    "wal_writer_delay=10000ms",
    "autovacuum=off",
    "checkpoint_timeout=1h",
  ]);
  const name = databaseName();
  await execute(server.url("postgres"), `create database ${name}`);
  url = server.url(name);
  await migratePostgres(url);
  client = new pg.Client({ connectionString: url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await server.stop();
});

/** Has the server written out what was committed meanwhile? */
async function isFlushedBy(commit: () => Promise<unknown>): Promise<boolean> {
  const before = await client.query<{ lsn: string }>("select pg_current_wal_insert_lsn() as lsn");
  await commit();
  const { rows } = await client.query<{ flushed: boolean }>(
    "select pg_current_wal_flush_lsn() > $1::pg_lsn as flushed",
    [before.rows[0]?.lsn],
  );
  return rows[0]?.flushed === true;
}

test.each([
  ["a synced commit is on disk when it is acknowledged", {}, true, true],
  ["another one is not waited for", {}, false, false],
  ["with full durability every one is", { durability: "full" }, false, true],
] as const)("%s", async (_, options, sync, flushed) => {
  const ledger = await openPostgresLedger({ url, ...options });
  resources.add(() => ledger.close());
  const writer = new SessionWriter(ledger, `s-${sync}-${flushed}`);
  await writer.commit([writer.event("made")], { sync: true });
  expect(await isFlushedBy(() => writer.commit([writer.event("next")], { sync }))).toBe(flushed);
});

test("a server that is told not to sync does so for decisions and claims all the same", async () => {
  const ledger = await openPostgresLedger({
    url: `${url}?prepare=false&options=-c%20synchronous_commit%3Doff`,
  });
  resources.add(() => ledger.close());
  const writer = new SessionWriter(ledger, "s-off");
  expect(await isFlushedBy(() => writer.commit([writer.event("made")], { sync: true }))).toBe(true);
});

test("a server that does not sync, or may tear pages, is told, and one with no faults and no standby is not", async () => {
  expect(await listPostgresRisks(url)).toEqual([]);
  const careless = await PostgresServer.start(["fsync=off", "full_page_writes=off"]);
  resources.add(() => careless.stop());
  expect(await listPostgresRisks(careless.url("postgres"))).toMatchObject([
    { about: "durability", message: expect.stringContaining("fsync off") as unknown },
    { about: "durability", message: expect.stringContaining("full_page_writes off") as unknown },
  ]);
});
