import { expect, test } from "vitest";
import { createDatabase, createEmptyDatabase } from "../../../test/support/postgres/database.ts";
import { PgBouncer, type PgBouncerOptions } from "../../../test/support/postgres/pgbouncer.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { useResources } from "../../../test/support/resources.ts";
import { SessionWriter } from "../../engine/ledger/contract/build.ts";
import { migratePostgres, openPostgresLedger } from "./open.ts";
import { listPostgresRisks } from "./risks.ts";

const resources = useResources();
const CONNECTIONS = 8;
/** As docs/operations.md has them. */
const ROLE_SETTINGS = [
  ["statement_timeout", "10s"],
  ["lock_timeout", "3s"],
  ["idle_in_transaction_session_timeout", "5s"],
  ["search_path", "pg_catalog"],
];

async function openThrough(options: PgBouncerOptions) {
  const url = await createDatabase(resources);
  const pooler = await PgBouncer.start(resources, url, { connections: CONNECTIONS, ...options });
  return { url, pooled: pooler.url };
}

async function open(url: string, listenUrl?: string) {
  const ledger = await openPostgresLedger({
    url: `${url}?pool=2`,
    ...(listenUrl === undefined ? {} : { listenUrl }),
  });
  resources.add(() => ledger.close());
  return ledger;
}

async function setOnDatabase(url: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  for (const [name, value] of ROLE_SETTINGS)
    await execute(url, `alter database ${database} set ${name} = '${value}'`);
  resources.add(async () => void (await execute(url, `alter database ${database} reset all`)));
}

const POOLERS: readonly PgBouncerOptions[] = [
  { mode: "session", ignoresOptions: true },
  { mode: "session", ignoresOptions: false },
  { mode: "transaction", ignoresOptions: true },
  { mode: "transaction", ignoresOptions: false },
  { mode: "statement", ignoresOptions: false },
];

test.for(POOLERS)("a pooler is found by itself, and commits pass (%o)", async (options) => {
  const { pooled } = await openThrough(options);
  const ledgers = [await open(pooled), await open(pooled)];
  const commits = ledgers.flatMap((ledger, i) =>
    Array.from({ length: 8 }, (_, n) => new SessionWriter(ledger, `s${i}-${n}`).commit()),
  );
  expect(await Promise.all(commits)).toEqual(commits.map(() => ({ ok: true })));
});

test("without a pooler none is found", async () => {
  expect((await listPostgresRisks(await createDatabase(resources))).map(({ about }) => about)).not.toContain(
    "pooler",
  );
});

test("through a pooler in session mode other processes' changes are heard of at once", async () => {
  const { url, pooled } = await openThrough({ mode: "session" });
  await setOnDatabase(url);
  expect((await listPostgresRisks(pooled)).filter(({ about }) => about === "pooler")).toEqual([]);
  await expectListening(await open(pooled), url);
});

test("in transaction mode, one connection past the pooler hears of changes at once", async () => {
  const { url, pooled } = await openThrough({ mode: "transaction" });
  await setOnDatabase(url);
  expect((await listPostgresRisks(pooled, url)).filter(({ about }) => about === "pooler")).toEqual([]);
  await expectListening(await open(pooled, url), url);
});

/** Its connection listens on our channel, as the server says: so it is told, and need not look. */
async function expectListening(ledger: Awaited<ReturnType<typeof open>>, url: string): Promise<void> {
  resources.add(ledger.onChange(() => {}));
  const listening = async (): Promise<unknown> =>
    (
      await execute(
        url,
        "select count(*)::integer as n from pg_stat_activity where datname = current_database() and query = 'listen countersign'",
      )
    )[0]?.rows[0];
  await expect.poll(listening, { timeout: 10_000 }).toEqual({ n: 1 });
}

test("what a pooler in transaction mode keeps from the ledger is said, with what to do", async () => {
  const { pooled } = await openThrough({ mode: "transaction" });
  const risks = (await listPostgresRisks(pooled)).filter(({ about }) => about === "pooler");
  expect(risks).toEqual([
    {
      about: "pooler",
      message: expect.stringMatching(
        /statement_timeout, lock_timeout, idle_in_transaction_session_timeout, search_path/,
      ) as unknown,
      advice: expect.stringContaining("alter role") as unknown,
    },
    {
      about: "pooler",
      message: expect.stringContaining("up to two seconds later") as unknown,
      advice: expect.stringContaining("COUNTERSIGN_LISTEN_URL") as unknown,
    },
  ]);
});

test("a URL to listen on that hears nothing is said", async () => {
  const { url, pooled } = await openThrough({ mode: "transaction" });
  await setOnDatabase(url);
  const elsewhere = await createDatabase(resources);
  for (const listenUrl of [pooled, elsewhere, "postgres://127.0.0.1:1/none"]) {
    const risks = (await listPostgresRisks(pooled, listenUrl)).filter(({ about }) => about === "pooler");
    expect(risks.map(({ message }) => message)).toEqual([
      expect.stringContaining("COUNTERSIGN_LISTEN_URL does not work"),
    ]);
  }
});

test("a schema is migrated through a pooler, but not in statement mode, which is said", async () => {
  const url = await createEmptyDatabase(resources);
  const statement = await PgBouncer.start(resources, url, { mode: "statement", ignoresOptions: false });
  await expect(migratePostgres(statement.url)).rejects.toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining("statement mode") as unknown,
  });
  const session = await PgBouncer.start(resources, url, { mode: "session", ignoresOptions: false });
  expect(await migratePostgres(session.url)).toMatchObject({ from: 0 });
});

test("a pool that is too small is named", async () => {
  const { pooled } = await openThrough({ mode: "session", connections: 1 });
  const first = await open(pooled);
  await first.owners.get("nobody");
  await expect(openPostgresLedger({ url: `${pooled}?query_timeout=500` })).rejects.toMatchObject({
    code: "ledger-unreachable",
    message: expect.stringContaining("pool has room") as unknown,
  });
});
