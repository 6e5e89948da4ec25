import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { useResources } from "../../../../test/support/resources.ts";
import { ManualClock, type StoreCommit } from "../../../engine/index.ts";
import { Database, openDatabase } from "../connection/database.ts";
import { openSqliteStore } from "../open.ts";
import { migrate } from "../schema/migrate.ts";
import { MIGRATIONS } from "../schema/schema.ts";
import { SqliteStore } from "../sqlite-store.ts";
import { buildCommit } from "../testing/build-commit.ts";
import { createNotingDriver, FULL, NORMAL } from "../testing/noting-driver.ts";

const GROUP_PROGRAM = new URL("../testing/group-program.ts", import.meta.url);
const OK = { ok: true };

interface Acknowledged {
  readonly type: "acknowledged";
  readonly key: string;
  readonly n: number;
}

const resources = useResources();

async function openStore(
  busyLimitMs?: number,
): Promise<{ readonly store: SqliteStore; readonly path: string; readonly raw: DatabaseSync }> {
  const path = join(await resources.folder(), "ledger.db");
  const database = await openDatabase({ path, ...(busyLimitMs === undefined ? {} : { busyLimitMs }) });
  await migrate(database, MIGRATIONS);
  const store = new SqliteStore(database, new Uint8Array(), new ManualClock());
  resources.add(() => store.close());
  const raw = new DatabaseSync(path, { timeout: 0 });
  resources.add(() => raw.close());
  return { store, path, raw };
}

async function hashesOf(store: SqliteStore): Promise<readonly string[]> {
  const rows = await store.log({ after: 0, limit: 100_000 });
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, at) => at + 1));
  return rows.map(({ hash }) => hash);
}

async function isIndexed(store: SqliteStore, { add: [entry] }: StoreCommit): Promise<boolean> {
  if (entry === undefined) throw new Error("The commit has no entry.");
  const [found = []] = await store.entries([{ facet: entry.facet, value: entry.value, limit: 10 }]);
  return found.some(({ id }) => id === entry.id);
}

/** Settles all of them; an error is given by its code. */
async function outcomesOf(all: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const settled = await Promise.allSettled(all);
  return settled.map((each) =>
    each.status === "fulfilled" ? each.value : (each.reason as { readonly code?: string }).code,
  );
}

test.each([
  [false, [false, false, false], [NORMAL]],
  [false, [false, true, false], [FULL]],
  [true, [false, false, false], [FULL]],
])(
  "commits that come together are one transaction, synced once if one asks for it (durability full: %s, %j)",
  async (alwaysSync, syncs, expected) => {
    const path = join(await resources.folder(), "ledger.db");
    const { driver, levels } = createNotingDriver(path);
    driver.exec("pragma journal_mode = wal; pragma synchronous = normal");
    const database = new Database(driver, { path, alwaysSync });
    await migrate(database, MIGRATIONS);
    const store = new SqliteStore(database, new Uint8Array(), new ManualClock());
    resources.add(() => store.close());
    levels.length = 0;
    const commits = syncs.map((sync, at) => store.commit(buildCommit(`s${at}`, 1, { sync })));
    expect(await Promise.all(commits)).toEqual([OK, OK, OK]);
    expect(levels).toEqual(expected);
    // A change is on disk too, and joins them.
    await Promise.all([
      store.commit(buildCommit("s0", 2)),
      store.change({ items: [{ kind: "k", id: "i", value: 1, read: 0 }] }),
    ]);
    expect(levels).toEqual([...expected, FULL]);
  },
);

test("each is judged alone: a refused one between two good ones has written nothing", async () => {
  const { store } = await openStore();
  const item = { kind: "k", id: "i", value: { a: 1 } };
  const first = buildCommit("a", 1, { items: [{ ...item, read: 0 }] });
  // The same version, the same name, and a version of an item that the first one has moved on.
  const again = buildCommit("a", 1, { add: [{ facet: "test", value: "a", sort: 1, id: "again" }] });
  const named = buildCommit("x", 1, { create: { app: "bank", user: "ana", id: "a" } });
  const late = buildCommit("b", 1, { items: [{ ...item, value: { b: 1 }, read: 0 }] });
  const last = buildCommit("c", 1, { items: [{ ...item, value: { c: 1 } }] });
  const outcomes = await Promise.all([first, again, named, late, last].map((each) => store.commit(each)));
  expect(outcomes).toEqual([
    OK,
    { ok: false, conflict: "version" },
    { ok: false, conflict: "version" },
    { ok: false, conflict: "row" },
    OK,
  ]);
  expect(await hashesOf(store)).toEqual(["a-1", "c-1"]);
  expect(await Promise.all([again, named, late].map((each) => isIndexed(store, each)))).toEqual([
    false,
    false,
    false,
  ]);
  expect(await store.load({ key: "b" })).toBeUndefined();
  expect(await store.items([item])).toMatchObject([{ value: { a: 1, c: 1 }, version: 2 }]);
});

test("a session's next commit can be in the same group as the one before it", async () => {
  const { store } = await openStore();
  const outcomes = await Promise.all([1, 2, 3].map((n) => store.commit(buildCommit("a", n))));
  expect(outcomes).toEqual([OK, OK, OK]);
  expect(await store.load({ key: "a" })).toMatchObject({ version: 3 });
});

test("the fault of one is its own, and the others are kept", async () => {
  const { store, raw } = await openStore();
  // A row in the place that the commit of `b` will want.
  raw.exec(
    "insert into log (session, n, at, kinds, digest, hash, events, body) values ('b', 1, 0, '', '', 'x', 0, '')",
  );
  const commits = ["a", "b", "c"].map((key) => buildCommit(key, 1));
  const outcomes = await outcomesOf(commits.map((each) => store.commit(each)));
  expect(outcomes).toEqual([OK, "internal", OK]);
  expect(await hashesOf(store)).toEqual(["x", "a-1", "c-1"]);
  expect(await store.load({ key: "b" })).toBeUndefined();
  expect(await Promise.all(commits.map((each) => isIndexed(store, each)))).toEqual([true, false, true]);
});

test("a disk that is full in the middle rejects each of them, and nothing of any is kept", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const database = await openDatabase({ path });
  await migrate(database, MIGRATIONS);
  const store = new SqliteStore(database, new Uint8Array(), new ManualClock());
  resources.add(() => store.close());
  const pages = Number(database.get("pragma page_count")?.[0]);
  database.exec(`pragma max_page_count = ${pages + 10}`);
  const long = { items: [{ kind: "k", id: "i", value: "x".repeat(100_000), read: 0 }] };
  const commits = [buildCommit("a", 1), buildCommit("b", 1, long), buildCommit("c", 1)];
  const outcomes = await outcomesOf(commits.map((each) => store.commit(each)));
  expect(outcomes).toEqual(commits.map(() => "ledger-unreachable"));
  expect(await hashesOf(store)).toEqual([]);
  database.exec("pragma max_page_count = 1000000");
  expect(await Promise.all(commits.map((each) => store.commit(each)))).toEqual([OK, OK, OK]);
});

test("a lock that is never given up rejects each of them, and what comes meanwhile is tried after them", async () => {
  const { store, raw } = await openStore(60);
  raw.exec("begin immediate");
  const first = ["a", "b"].map((key) => store.commit(buildCommit(key, 1)));
  await setImmediate();
  await setImmediate();
  const second = ["c", "d"].map((key) => store.commit(buildCommit(key, 1)));
  expect(await outcomesOf(first)).toEqual(["ledger-busy", "ledger-busy"]);
  raw.exec("rollback");
  expect(await outcomesOf(second)).toEqual([OK, OK]);
  expect(await hashesOf(store)).toEqual(["c-1", "d-1"]);
});

test("closing rejects what waits, also for a lock, and what comes later", async () => {
  const { store, raw } = await openStore();
  raw.exec("begin immediate");
  const locked = store.commit(buildCommit("a", 1));
  await setImmediate();
  await setImmediate();
  const waiting = store.commit(buildCommit("b", 1));
  await store.close();
  const changed = store.change({ items: [] });
  const later = store.commit(buildCommit("c", 1));
  expect(await outcomesOf([locked, waiting, changed, later])).toEqual([
    "closed",
    "closed",
    "closed",
    "closed",
  ]);
});

test("a commit that comes alone is written within two turns of the event loop", async () => {
  const { store } = await openStore();
  const written = store.commit(buildCommit("a", 1));
  const turns = setImmediate().then(() => setImmediate("late"));
  expect(await Promise.race([written, turns])).toEqual(OK);
});

test("a process that is killed between two groups, or within one, loses nothing that it acknowledged", async () => {
  for (const round of [1, 2, 3]) {
    const path = join(await resources.folder(), "ledger.db");
    const child = resources.child<Acknowledged>(GROUP_PROGRAM, { args: [path] });
    const told = new Map<string, number>();
    child.onLine(({ key, n }) => told.set(key, n));
    await child.line("acknowledged");
    await new Promise((resolve) => setTimeout(resolve, 40 * round));
    await child.kill();
    const store = await openSqliteStore({ path });
    const hashes = await hashesOf(store);
    for (const [key, n] of told) {
      const loaded = await store.load({ key });
      expect(loaded?.version).toBeGreaterThanOrEqual(n);
      expect(hashes.filter((hash) => hash.startsWith(`${key}-`))).toHaveLength(loaded?.version ?? 0);
    }
    // All of a group, or nothing of it.
    expect(hashes.length % 8).toBe(0);
    await store.close();
  }
});
