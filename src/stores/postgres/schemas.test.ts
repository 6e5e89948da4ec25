import { join } from "node:path";
import { expect, test } from "vitest";
import { connect, createEmptyDatabase } from "../../../test/support/postgres/database.ts";
import { PgBouncer } from "../../../test/support/postgres/pgbouncer.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { buildCommit, openStore } from "../../../test/support/postgres/store.ts";
import { useResources } from "../../../test/support/resources.ts";
import { createEngine } from "../../index.ts";
import { eraseLedger, exportLedger, planLedgerMigration } from "../index.ts";
import { Statements } from "./connection/statements.ts";
import { inspectPostgresLedger } from "./inspect.ts";
import { migratePostgres, openPostgresLedger } from "./open.ts";
import type { PostgresStore } from "./postgres-store.ts";
import { listPostgresRisks } from "./risks.ts";

const resources = useResources();
const SCHEMAS = ["countersign_acme", "countersign_globex"] as const;
const ana = { id: "ana" };

function inSchema(url: string, schema: string): string {
  const named = new URL(url);
  named.searchParams.set("schema", schema);
  return named.href;
}

/** Two ledgers in one database that has no other: a statement that left the schema out would find nothing. */
async function createLedgers() {
  const url = await createEmptyDatabase(resources);
  const [acme, globex] = SCHEMAS.map((schema) => inSchema(url, schema)) as [string, string];
  for (const ledger of [acme, globex]) await migratePostgres(ledger);
  return { url, acme, globex };
}

async function openEngine(ledger: string) {
  const engine = await createEngine({ ledger });
  resources.add(() => engine.close());
  const paid: string[] = [];
  const pay = engine.gate("pay", { requireConfirmation: true }, async ({ to }: { readonly to: string }) => {
    paid.push(to);
    return `paid ${to}`;
  });
  /** The same key, app and tool in every ledger. */
  const ask = async (to: string): Promise<string> => {
    const asked = await pay({ to }, { key: "k", by: ana });
    if (asked.status !== "pending") throw new Error(asked.status);
    return asked.confirmation.id;
  };
  const kinds = async (): Promise<readonly string[]> =>
    (await engine.ledger.journal.records({ after: 0, limit: 1_000 })).map(({ kind }) => kind);
  return { engine, ask, paid, kinds };
}

test("a decision in one schema is never seen in another, although all ids are equal", async () => {
  const ledgers = await createLedgers();
  const acme = await openEngine(ledgers.acme);
  const globex = await openEngine(ledgers.globex);
  const [asked, other] = [await acme.ask("quokka"), await globex.ask("wombat")];
  const before = [await globex.kinds(), await globex.engine.head()];
  const { finished } = await acme.engine.approve(asked, { by: ana });
  expect(await finished).toMatchObject({ status: "succeeded", result: "paid quokka" });
  await expect(globex.engine.approve(asked, { by: ana })).rejects.toMatchObject({
    code: "unknown-confirmation",
  });
  await globex.engine.work({ once: true });
  expect([await globex.kinds(), await globex.engine.head()]).toEqual(before);
  expect([acme.paid, globex.paid]).toEqual([["quokka"], []]);
  expect((await globex.engine.confirmation(other)).status).toBe("requested");
  for (const { engine } of [acme, globex]) expect(await engine.verify()).toMatchObject({ ok: true });
  const [keys] = await execute(
    ledgers.url,
    SCHEMAS.map((schema) => `select value from ${schema}.meta where name = 'digest-key'`).join(" union "),
  );
  expect(keys?.rows).toHaveLength(2);
});

test("through a pooler whose connections both share, each statement finds its own schema", async () => {
  const { url } = await createLedgers();
  const pooler = await PgBouncer.start(resources, url, { connections: 2 });
  const stores: PostgresStore[] = [];
  for (const schema of SCHEMAS) stores.push(await openStore(resources, inSchema(pooler.url, schema)));
  const commits = Array.from({ length: 20 }, (_, n) =>
    stores.map((store, at) =>
      store.commit(
        buildCommit(`s${n}`, 0, { add: [{ facet: "of", value: SCHEMAS[at] ?? "", sort: n, id: "x" }] }),
      ),
    ),
  ).flat();
  expect(await Promise.all(commits)).toEqual(commits.map(() => ({ ok: true })));
  for (const [at, store] of stores.entries()) {
    expect(await store.log({ after: 0, limit: 99 })).toHaveLength(20);
    const found = await Promise.all(
      SCHEMAS.map(async (value) => (await store.entries([{ facet: "of", value, limit: 99 }]))[0]?.length),
    );
    expect(found).toEqual(SCHEMAS.map((_, of) => (of === at ? 20 : 0)));
  }
});

test("a connection that two schemas share never runs what the other prepared", () => {
  const [acme, globex, usual] = [...SCHEMAS, "countersign"].map((schema) =>
    new Statements(schema).prepare("select value from countersign.meta"),
  );
  expect(acme?.text).toBe("select value from countersign_acme.meta");
  expect(usual?.text).toBe("select value from countersign.meta");
  expect(new Set([acme, globex, usual].map((prepared) => prepared?.name)).size).toBe(3);
});

test("what changes in one schema is told only to those who listen to it", async () => {
  const { url, acme, globex } = await createLedgers();
  const heard: string[] = [];
  const listener = await connect(resources, url);
  listener.on("notification", ({ channel }) => heard.push(channel));
  for (const schema of SCHEMAS) await listener.query(`listen ${schema}`);
  const [first, second] = [await openStore(resources, acme), await openStore(resources, globex)];
  resources.add(second.onChange(() => {}));
  const listening =
    "select query from pg_stat_activity where datname = current_database() and query like 'listen%' and pid <> $1";
  const [own] = (await listener.query<{ pid: number }>("select pg_backend_pid() as pid")).rows;
  const queries = async (): Promise<unknown> => (await listener.query(listening, [own?.pid])).rows;
  await expect.poll(queries, { timeout: 10_000 }).toEqual([{ query: "listen countersign_globex" }]);
  await first.commit(buildCommit("s1", 0));
  await expect.poll(() => heard).toEqual(["countersign_acme"]);
  await second.commit(buildCommit("s1", 0));
  await expect.poll(() => heard).toEqual(["countersign_acme", "countersign_globex"]);
});

test("a URL to listen on needs no schema: it is that of the ledger", async () => {
  const { url, acme } = await createLedgers();
  const store = await openStore(resources, acme, { listenUrl: url });
  const other = await openStore(resources, acme);
  const woken = Promise.withResolvers<void>();
  const listening = "select 1 from pg_stat_activity where query = 'listen countersign_acme'";
  const looker = await connect(resources, url);
  resources.add(store.onChange(() => woken.resolve()));
  await expect.poll(async () => (await looker.query(listening)).rowCount, { timeout: 10_000 }).toBe(1);
  await other.commit(buildCommit("s1", 0));
  await woken.promise;
  expect((await listPostgresRisks(acme, url)).filter(({ about }) => about === "pooler")).toEqual([]);
});

test("a commit that takes long in one schema holds back no reader of another", async () => {
  const { url, acme, globex } = await createLedgers();
  const slow = await connect(resources, url);
  await slow.query("begin; select countersign_acme.hold_place()");
  const [first, second] = [await openStore(resources, acme), await openStore(resources, globex)];
  for (const store of [first, second]) await store.commit(buildCommit("s1", 0));
  expect(await first.log({ after: 0, limit: 9 })).toEqual([]);
  expect(await second.log({ after: 0, limit: 9 })).toMatchObject([{ session: "s1" }]);
  await slow.query("commit");
  expect(await first.log({ after: 0, limit: 9 })).toMatchObject([{ session: "s1" }]);
});

test("positions are held as they are, also where they do not fit into 32 bits", async () => {
  const { url, acme } = await createLedgers();
  const store = await openStore(resources, acme);
  const slow = await connect(resources, url);
  for (const top of [2 ** 31, 2 ** 32, 5 * 2 ** 32 + 7]) {
    await slow.query(`select setval('countersign_acme.log_seq', ${top - 2})`);
    await store.commit(buildCommit(`before-${top}`, 0));
    await slow.query("begin; select countersign_acme.hold_place()");
    for (const n of [1, 2]) await store.commit(buildCommit(`behind-${top}-${n}`, 0));
    const seqs = async (): Promise<readonly number[]> =>
      (await store.log({ after: top - 2, limit: 9 })).map(({ seq }) => seq);
    expect(await seqs()).toEqual([top - 1]);
    await slow.query("commit");
    expect(await seqs()).toEqual([top - 1, top, top + 1]);
  }
});

test("owners and their leases are those of one schema", async () => {
  const { acme, globex } = await createLedgers();
  const [first, second] = [await openStore(resources, acme), await openStore(resources, globex)];
  const owner = { id: "o1", host: "h", pid: 1, history: (await first.history(1_000)).id };
  expect(await first.beat(owner, 1_000)).toBe(true);
  expect(await second.owner("o1")).toBeUndefined();
  await second.retire("o1");
  expect(await first.owner("o1")).toMatchObject({ fenced: false });
  expect((await second.history(1_000)).id).not.toBe(owner.history);
});

test("a migration of one schema does not wait for one of another", async () => {
  const url = await createEmptyDatabase(resources);
  const holder = await connect(resources, url);
  await holder.query(
    "begin; select pg_advisory_xact_lock(hashtextextended('countersign_acme', 4849336966747728))",
  );
  const globex = inSchema(url, "countersign_globex");
  expect(await migratePostgres(globex)).toMatchObject({ from: 0 });
  await holder.query("commit");
  expect(await inspectPostgresLedger(globex)).toMatchObject({ exists: true, isSameBuild: true });
  const acme = inSchema(url, "countersign_acme");
  expect(await inspectPostgresLedger(acme)).toMatchObject({ exists: false });
  await expect(openPostgresLedger({ url: acme })).rejects.toMatchObject({
    code: "ledger-older",
    message: expect.stringContaining("?schema=countersign_acme") as unknown,
  });
  const { migrations } = await planLedgerMigration(acme);
  const said = JSON.stringify(migrations);
  expect(said).toContain("create table countersign_acme.documents");
  expect(said).not.toContain("countersign.");
});

test("a schema is exported and erased alone, and what is counted of it is its own", async () => {
  const ledgers = await createLedgers();
  const acme = await openEngine(ledgers.acme);
  const globex = await openEngine(ledgers.globex);
  await acme.ask("quokka");
  const id = await globex.ask("wombat");
  const [mine, most] = [await openStore(resources, ledgers.acme), { pending: 9, sessions: 9 }];
  const before = (await mine.usage(most)).bytes;
  await execute(
    ledgers.url,
    "insert into countersign_globex.items select 'x', n::text, array[repeat('x', 1000)], 1, null, 1 from generate_series(1, 2000) n",
  );
  expect(await mine.usage(most)).toEqual({ pending: 1, sessions: 1, bytes: before });
  const file = join(await resources.folder(), "copy.db");
  await exportLedger(ledgers.acme, file, {});
  const copy = await createEngine({ ledger: `sqlite:${file}` });
  resources.add(() => copy.close());
  const copied = JSON.stringify(await copy.ledger.journal.records({ after: 0, limit: 99 }));
  expect(copied).toContain("quokka");
  expect(copied).not.toContain("wombat");
  await acme.engine.close();
  await mine.close();
  await eraseLedger(ledgers.acme);
  expect(await inspectPostgresLedger(ledgers.acme)).toMatchObject({ exists: false });
  const { finished } = await globex.engine.approve(id, { by: ana });
  expect(await finished).toMatchObject({ status: "succeeded" });
  expect(await globex.engine.verify()).toMatchObject({ ok: true });
});

test("a role that may use nothing but its schema can use it", async () => {
  const { url, acme } = await createLedgers();
  await execute(
    url,
    "do $$ begin create role single_tenant login password 'x'; exception when duplicate_object then null; end $$",
    "grant usage on schema countersign_acme to single_tenant",
    "grant select, insert, update, delete on all tables in schema countersign_acme to single_tenant",
    "grant usage, select on all sequences in schema countersign_acme to single_tenant",
  );
  const limited = Object.assign(new URL(acme), { username: "single_tenant", password: "x" }).href;
  const { engine, ask } = await openEngine(limited);
  const { finished } = await engine.approve(await ask("quokka"), { by: ana });
  expect(await finished).toMatchObject({ status: "succeeded" });
  await expect(createEngine({ ledger: limited.replace("_acme", "_globex") })).rejects.toMatchObject({
    code: "ledger-unreachable",
  });
});

test.each([
  "public",
  "pg_catalog",
  "acme",
  "countersign_",
  "countersign_A",
  "countersign_a.b",
  "countersign_é",
  "",
])("the schema %j is refused, because it may be somebody else's", async (schema) => {
  const url = inSchema("postgres://me:secret@127.0.0.1:1/db", schema);
  for (const use of [openPostgresLedger({ url }), migratePostgres(url), eraseLedger(url)]) {
    const error: unknown = await use.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "invalid-option", details: { option: "ledger" } });
    expect(String(error)).not.toContain("secret");
  }
});
