import { expect, test } from "vitest";
import { TcpProxy } from "../../../../test/support/http/tcp-proxy.ts";
import { connect, createDatabase, DatabaseClock } from "../../../../test/support/postgres/database.ts";
import { buildCommit, openStore } from "../../../../test/support/postgres/store.ts";
import { watchQueries } from "../../../../test/support/postgres/watch-queries.ts";
import { useResources } from "../../../../test/support/resources.ts";
import type { CommitOutcome, Store, StoreCommit } from "../../../engine/index.ts";

const resources = useResources();
const OK = { ok: true };
const LEASE_MS = 15_000;
const refused = (conflict: string) => ({ ok: false, conflict });

/** How many commits each statement has that is sent meanwhile. */
async function groupsOf(work: () => Promise<unknown>): Promise<readonly number[]> {
  const groups: number[] = [];
  const restore = watchQueries(({ text, values }) => {
    if (text.includes("moved as"))
      groups.push((JSON.parse(values?.[0] as string) as readonly unknown[]).length);
  });
  await work().finally(restore);
  return groups;
}

function commitAll(store: Store, commits: readonly StoreCommit[]): Promise<readonly CommitOutcome[]> {
  return Promise.all(commits.map((commit) => store.commit(commit)));
}

test("commits that come together are one statement, synced ones apart from others", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  const commits = Array.from({ length: 10 }, (_, i) => buildCommit(`s${i}`, 0, { sync: i < 4 }));
  const groups = await groupsOf(async () => {
    expect(await commitAll(store, commits)).toEqual(commits.map(() => OK));
  });
  expect(groups.toSorted((a, b) => a - b)).toEqual([4, 6]);
});

test("what waits while others are written goes together into the next statements", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  const groups = await groupsOf(() =>
    Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        for (let version = 0; version < 5; version += 1)
          expect(await store.commit(buildCommit(`s${i}`, version))).toEqual(OK);
      }),
    ),
  );
  expect(groups.length).toBeLessThan(100);
  expect(groups.reduce((sum, size) => sum + size, 0)).toBe(200);
});

test("with full durability there is one kind of statement", async () => {
  const url = await createDatabase(resources);
  const store = await openStore(resources, url, { durability: "full" });
  const commits = Array.from({ length: 6 }, (_, i) => buildCommit(`s${i}`, 0, { sync: i < 3 }));
  expect(await groupsOf(() => commitAll(store, commits))).toEqual([6]);
});

test("two commits of one session never share a statement", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  const groups = await groupsOf(async () => {
    const [first, second, other] = await commitAll(store, [
      buildCommit("s1", 0),
      buildCommit("s1", 0),
      buildCommit("s2", 0),
    ]);
    // Whichever reaches the server first.
    expect([first, second]).toEqual(expect.arrayContaining([OK, refused("version")]));
    expect(other).toEqual(OK);
  });
  expect(groups).toEqual([2, 1]);
});

test("of commits in one statement each is judged alone, and a refused one has written nothing", async () => {
  const clock = new DatabaseClock();
  const store = await openStore(resources, await createDatabase(resources, clock));
  await store.change({ items: [{ kind: "k", id: "taken", value: 1, read: 0 }] });
  await store.commit(buildCommit("moved", 0));
  await store.commit(buildCommit("late", 0));
  const commits = [
    buildCommit("a-good", 0),
    buildCommit("moved", 0),
    buildCommit("moved-2", 3),
    buildCommit("named", 0, { create: { app: "app", user: "user", id: "moved" } }),
    buildCommit("late", 1, { before: clock.now() }),
    buildCommit("early", 0, { from: clock.now() + 1 }),
    buildCommit("nobodys", 0, { owner: "nobody" }),
    buildCommit("item", 0, { items: [{ kind: "k", id: "taken", value: 2, read: 0 }] }),
    buildCommit("z-good", 0, { items: [{ kind: "k", id: "free", value: 3, read: 0 }] }),
  ];
  const groups = await groupsOf(async () => {
    expect(await commitAll(store, commits)).toEqual([
      OK,
      ...["version", "version", "version", "deadline", "deadline", "owner", "row"].map(refused),
      OK,
    ]);
  });
  // "item" and "taken" touch nothing of each other; "moved" and the good ones go together.
  expect(groups).toEqual([commits.length]);
  const log = await store.log({ after: 0, limit: 99 });
  expect(log.map(({ session, n }) => `${session} ${n}`)).toEqual([
    "moved 1",
    "late 1",
    "a-good 1",
    "z-good 1",
  ]);
  expect(
    (await store.loadAll(commits.map(({ key }) => key))).map(({ key, version }) => [key, version]),
  ).toEqual([
    ["a-good", 1],
    ["moved", 1],
    ["late", 1],
    ["z-good", 1],
  ]);
  const [entries] = await store.entries([{ facet: "all", value: "", limit: 99 }]);
  expect(entries?.map(({ id }) => id)).toEqual(["a-good 1", "late 1", "moved 1", "z-good 1"]);
  const items = await store.items([
    { kind: "k", id: "taken" },
    { kind: "k", id: "free" },
  ]);
  expect(items.map(({ value, version }) => [value, version])).toEqual([
    [1, 1],
    [3, 1],
  ]);
});

test("the version comes before every other refusal", async () => {
  const clock = new DatabaseClock();
  const store = await openStore(resources, await createDatabase(resources, clock));
  await store.commit(buildCommit("s1", 0));
  const all = {
    owner: "nobody",
    before: clock.now(),
    items: [{ kind: "k", id: "i", value: 1, read: 7 }],
  } as const;
  expect(await store.commit(buildCommit("s1", 0, all))).toEqual(refused("version"));
  expect(await store.commit(buildCommit("s1", 1, { ...all, head: "another" }))).toEqual(refused("version"));
  expect(await store.commit(buildCommit("s1", 1, all))).toEqual(refused("owner"));
  const { owner: _owner, ...rest } = all;
  expect(await store.commit(buildCommit("s1", 1, rest))).toEqual(refused("deadline"));
  expect(await store.commit(buildCommit("s1", 1, { items: all.items }))).toEqual(refused("row"));
});

test("a lease that runs out while the statement waits for a lock refuses its own commit only", async () => {
  const clock = new DatabaseClock();
  const url = await createDatabase(resources, clock);
  const store = await openStore(resources, url);
  await store.beat({ id: "o1", host: "h", pid: 1 }, LEASE_MS);
  await store.beat({ id: "o2", host: "h", pid: 2 }, 2 * LEASE_MS);
  const keys = ["s1", "s2", "s3", "s4"];
  await commitAll(
    store,
    keys.map((key) => buildCommit(key, 0)),
  );
  const other = await connect(resources, url);
  await other.query("begin; select 1 from countersign.documents where key = 's3' for update");
  const outcomes = commitAll(store, [
    buildCommit("s1", 1),
    buildCommit("s2", 1, { owner: "o1" }),
    buildCommit("s3", 1),
    buildCommit("s4", 1, { owner: "o2" }),
  ]);
  await blocked(other);
  await clock.advance(LEASE_MS);
  await other.query("commit");
  expect(await outcomes).toEqual([OK, refused("owner"), OK, OK]);
  expect((await store.loadAll(keys)).map(({ version }) => version)).toEqual([2, 1, 2, 2]);
});

test("a deadline that passes while the statement waits for a lock refuses its own commit only", async () => {
  const clock = new DatabaseClock();
  const url = await createDatabase(resources, clock);
  const store = await openStore(resources, url);
  await commitAll(store, [buildCommit("s1", 0), buildCommit("s2", 0)]);
  const other = await connect(resources, url);
  await other.query("begin; select 1 from countersign.documents where key = 's2' for update");
  const outcomes = commitAll(store, [
    buildCommit("s1", 1, { before: clock.now() + 10 }),
    buildCommit("s2", 1),
  ]);
  await blocked(other);
  await clock.advance(10);
  await other.query("commit");
  expect(await outcomes).toEqual([refused("deadline"), OK]);
});

test("an item that somebody else writes while the statement waits for it refuses its own commit only", async () => {
  const url = await createDatabase(resources);
  const store = await openStore(resources, url);
  await store.change({ items: [{ kind: "k", id: "i", value: 1, read: 0 }] });
  for (const [read, statement] of [
    [1, "update countersign.items set version = 2"],
    [0, "insert into countersign.items values ('k', 'j', '{2}', 1, null, 0)"],
  ] as const) {
    const other = await connect(resources, url);
    await other.query(`begin; ${statement}`);
    const item = { kind: "k", id: read === 1 ? "i" : "j", value: 3, read };
    const outcomes = commitAll(store, [
      buildCommit(`a${read}`, 0),
      buildCommit(`b${read}`, 0, { items: [item] }),
    ]);
    await blocked(other);
    await other.query("commit");
    expect(await outcomes).toEqual([OK, refused("row")]);
  }
});

test("who shares a statement with one that waits for a lock for too long goes on without it", async () => {
  const url = await createDatabase(resources);
  const store = await openStore(resources, url);
  await commitAll(store, [buildCommit("s1", 0), buildCommit("s2", 0)]);
  const other = await connect(resources, url);
  await other.query("begin; select 1 from countersign.documents where key = 's2' for update");
  const [first, second] = [store.commit(buildCommit("s1", 1)), store.commit(buildCommit("s2", 1))];
  expect(await first).toEqual(OK);
  expect(store.stats.retries).toBe(1);
  await other.query("commit");
  expect(await second).toEqual(OK);
});

test("a text that cannot be stored is the fault of its own commit only", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  const outcomes = await Promise.allSettled([
    store.commit(buildCommit("s1", 0)),
    store.commit(buildCommit("s2", 0, { create: { app: "a\0", user: "u", id: "s2" } })),
    store.commit(buildCommit("s3", 0)),
  ]);
  expect(outcomes).toMatchObject([{ value: OK }, { reason: { code: "malformed-request" } }, { value: OK }]);
});

test("commits of many sessions that lay members over the same item are all there, in order", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  const state = { kind: "state", id: "app" };
  const commits = Array.from({ length: 20 }, (_, i) => {
    const name = `s${String(i).padStart(2, "0")}`;
    return buildCommit(name, 0, { items: [{ ...state, value: { last: i, [name]: [i] } }] });
  });
  expect(await groupsOf(() => commitAll(store, commits))).toEqual([20]);
  const [item] = await store.items([state]);
  expect(item?.version).toBe(20);
  expect(JSON.stringify(item?.value)).toBe(
    JSON.stringify(Object.assign({}, ...commits.map(({ items }) => items[0]?.value)) as unknown),
  );
});

test("of a group whose answer was lost each is told what became of it", async () => {
  const url = await createDatabase(resources);
  const proxy = await TcpProxy.to(Number(new URL(url).port));
  resources.add(() => proxy.close());
  const store = await openStore(resources, `${proxy.through(url)}?pool=3`);
  await store.commit(buildCommit("s2", 0));
  for (const sync of [true, false]) {
    const marked = `lost-${sync}`;
    const lost = proxy.loseAnswerTo(marked);
    const groups = await groupsOf(async () => {
      const outcomes = commitAll(store, [
        buildCommit(`a-${marked}`, 0, { sync }),
        buildCommit("s2", 0, { sync }),
        buildCommit(`z-${marked}`, 0, { sync }),
      ]);
      await lost;
      expect(await outcomes).toEqual([OK, refused("version"), OK]);
    });
    expect(groups).toEqual([3, 3]);
  }
  expect((await store.log({ after: 0, limit: 99 })).map(({ session }) => session)).toHaveLength(5);
});

test("64 writers of the same sessions and items wait for nobody in a circle, and each version is made once", async () => {
  const url = await createDatabase(resources);
  const stores = [await openStore(resources, url), await openStore(resources, url)] as const;
  const keys = Array.from({ length: 8 }, (_, i) => `s${i}`);
  await commitAll(
    stores[0],
    keys.map((key) => buildCommit(key, 0)),
  );
  let done = 0;
  const write = async (writer: number): Promise<void> => {
    const store = stores[writer % 2] as Store;
    for (let round = 0; round < 12; round += 1) {
      const key = keys[(writer * 5 + round * 3) % keys.length] ?? "";
      const items = [writer, writer + round, round].map((i) => ({
        kind: "state",
        id: `i${i % 5}`,
        value: { [`w${writer}`]: round },
      }));
      const version = (await store.load({ key }))?.version ?? 0;
      const outcome = await store.commit(buildCommit(key, version, { items, sync: round % 2 === 0 }));
      if (outcome.ok) done += 1;
      else expect(outcome).toEqual(refused("version"));
    }
  };
  const deadlocks = await deadlocksOf(url);
  await Promise.all(Array.from({ length: 64 }, (_, writer) => write(writer)));
  const versions = (await stores[0].loadAll(keys)).map(({ version }) => version);
  expect(versions.reduce((sum, version) => sum + version, 0)).toBe(done + keys.length);
  expect(await stores[0].log({ after: 0, limit: 9_999 })).toHaveLength(done + keys.length);
  expect(await deadlocksOf(url)).toBe(deadlocks);
  expect(stores.map(({ stats }) => stats.retries)).toEqual([0, 0]);
});

async function deadlocksOf(url: string): Promise<number> {
  const client = await connect(resources, url);
  const { rows } = await client.query<{ deadlocks: string }>(
    "select deadlocks from pg_stat_database where datname = current_database()",
  );
  return Number(rows[0]?.deadlocks);
}

/** Somebody waits for what this connection has locked. */
async function blocked(holder: Awaited<ReturnType<typeof connect>>): Promise<void> {
  const waiting =
    "select 1 from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))";
  while ((await holder.query(waiting)).rowCount === 0);
}
