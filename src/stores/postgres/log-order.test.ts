import { expect, test, vi } from "vitest";
import { connect, createDatabase } from "../../../test/support/postgres/database.ts";
import { buildCommit, openStore } from "../../../test/support/postgres/store.ts";
import { useResources } from "../../../test/support/resources.ts";
import { OutboxReader } from "../../engine/deliveries/outbox-reader.ts";
import { Engine, type LogRow, type Store } from "../../engine/index.ts";
import { createLedger } from "../index.ts";
import { commitStatement } from "./commits/commit-statement.ts";

const WRITERS = 16;
const COMMITS = 40;
/** A row of somebody whose commit takes long. */
const SLOW =
  "insert into countersign.log select case when (select countersign.hold_place()) then nextval('countersign.log_seq') end, " +
  "'slow', 1, 1, '[]', '', '', 0, 1, null, null";
const resources = useResources();

test("whoever reads the log on from where they were misses nothing of many writers", async () => {
  const url = await createDatabase(resources);
  const stores = [
    await openStore(resources, `${url}?pool=${WRITERS}`),
    await openStore(resources, url),
  ] as const;
  let done = false;
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async (_, i) => {
      for (let n = 0; n < COMMITS; n++)
        await (stores[i % 2] as Store).commit(buildCommit(`s${i}`, n, { sync: n % 3 === 0 }));
    }),
  ).then(() => {
    done = true;
  });
  const seen: LogRow[] = [];
  for (let last = false; ; last = done) {
    const page = await stores[1].log({ after: seen.at(-1)?.seq ?? 0, limit: 100 });
    seen.push(...page);
    if (last && page.length === 0) break;
  }
  await writing;
  expect(seen).toHaveLength(WRITERS * COMMITS);
  for (const rows of Map.groupBy(seen, ({ session }) => session).values())
    expect(rows.map(({ n }) => n)).toEqual(rows.map((_, index) => index + 1));
});

test("a row that is on its way holds back those behind it, and nothing that is before it", async () => {
  const url = await createDatabase(resources);
  const store = await openStore(resources, url);
  await store.commit(buildCommit("before", 0));
  const slow = await connect(resources, url);
  await slow.query(`begin; ${SLOW}`);
  await Promise.all([store.commit(buildCommit("behind", 0)), store.commit(buildCommit("behind-2", 0))]);
  const sessions = async (last?: true): Promise<string[]> =>
    (await store.log({ after: 0, limit: 9, ...(last && { last }) })).map(({ session }) => session);
  expect(await sessions()).toEqual(["before"]);
  expect(await sessions(true)).toEqual(["before"]);
  await slow.query("commit");
  expect(await sessions()).toEqual(["before", "slow", "behind", "behind-2"]);
  expect(await sessions(true)).toEqual(["before", "slow", "behind", "behind-2"]);
});

test("what was rolled back leaves a gap in the positions, and holds back nothing", async () => {
  const url = await createDatabase(resources);
  const store = await openStore(resources, url);
  const failing = await connect(resources, url);
  await failing.query(`begin; ${SLOW}; rollback`);
  await store.commit(buildCommit("s1", 0));
  expect(await store.log({ after: 0, limit: 9 })).toMatchObject([{ session: "s1", seq: 2 }]);
});

test("however many commits a statement has, it holds one place", async () => {
  const client = await connect(resources, await createDatabase(resources));
  const group = Array.from({ length: 30 }, (_, i) => ({ id: String(i), commit: buildCommit(`s${i}`, 0) }));
  const { text, values } = commitStatement(group, false);
  await client.query("begin");
  expect((await client.query(text, [...values])).rowCount).toBe(30);
  const held = await client.query(
    "select 1 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
  );
  await client.query("rollback");
  expect(held.rowCount).toBe(1);
});

test("a checkpoint is refused where a line before its last one is gone: a crash does not lose them in their order", async () => {
  const url = await createDatabase(resources);
  const store = await openStore(resources, url);
  for (const key of ["a", "b", "c"]) await store.commit(buildCommit(key, 0));
  const rows = await store.log({ after: 0, limit: 9 });
  const last = rows.at(-1);
  if (last === undefined) throw new Error("There is no line.");
  const checkpoint = { k: 1, lastSeq: last.seq, count: rows.length, root: "r", hash: "h", at: 1 };
  const server = await connect(resources, url);
  await server.query("begin; delete from countersign.log where session = 'b'");
  await server.query("commit");
  expect(await store.seal(checkpoint, { rows: [last] })).toBe(false);
  expect(await store.seal({ ...checkpoint, count: 2 }, { rows: [last] })).toBe(true);
  await store.commit(buildCommit("d", 0));
  const [newest] = await store.log({ after: last.seq, limit: 1 });
  const next = { ...checkpoint, k: 2, lastSeq: newest?.seq ?? 0, count: 3, hash: "h2" };
  expect(await store.seal(next, { rows: newest === undefined ? [] : [newest], previous: "h" })).toBe(true);
});

const ana = { id: "ana" };

async function noting() {
  const url = await createDatabase(resources);
  const ledger = await createLedger(url);
  resources.add(() => ledger.close());
  const engine = new Engine({ ledger });
  resources.add(() => engine.close());
  const tool = engine.gate("note", {}, async () => "noted");
  const note = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await tool({}, { key, by: ana });
  };
  const server = await connect(resources, url);
  let kept: string;
  /** What was committed after this, a crash will take: the last lines, and what the sequence knew of them. */
  const unsynced = async (): Promise<void> => {
    const { rows } = await server.query("select last_value from countersign.log_seq");
    kept = (rows[0] as { readonly last_value: string }).last_value;
  };
  const crash = async (): Promise<void> => {
    await server.query(
      "with gone as (delete from countersign.log where seq > $1::bigint returning session) " +
        "delete from countersign.documents where key in (select session from gone)",
      [kept],
    );
    await server.query("select setval('countersign.log_seq', $1::bigint)", [kept]);
  };
  return { ledger, engine, note, unsynced, crash };
}

test("no checkpoint is made of lines that a crash took between two pages, whose numbers others have now", async () => {
  const { ledger, engine, note, unsynced, crash } = await noting();
  await note("a", "b");
  await unsynced();
  await note("lost");
  const rows = ledger.journal.rows.bind(ledger.journal);
  const pages = vi.spyOn(ledger.journal, "rows").mockImplementationOnce(async (range) => {
    const page = await rows(range);
    await crash();
    await note("c", "d");
    return page;
  });
  expect(await engine.head()).toBe("0:empty");
  expect(pages).toHaveBeenCalledTimes(3);
  await engine.head();
  expect(await engine.verify()).toMatchObject({ ok: true, faults: [] });
});

test("nobody misses a notice whose number a lost record had, when a crash comes between reading and queueing", async () => {
  const { ledger, note, unsynced, crash } = await noting();
  const records = () => ledger.journal.records({ after: 0, limit: 100 });
  const unwanted = new Set<string>();
  const reader = new OutboxReader(ledger, { name: "webhook", wants: ({ hash }) => !unwanted.has(hash) });
  await reader.enqueueNew();
  await note("a");
  await unsynced();
  const { length } = await records();
  await note("lost");
  for (const { hash } of (await records()).slice(length)) unwanted.add(hash);
  const enqueue = ledger.outbox.enqueue.bind(ledger.outbox);
  vi.spyOn(ledger.outbox, "enqueue").mockImplementationOnce(async (batch) => {
    await crash();
    await note("c");
    return enqueue(batch);
  });
  while (!(await reader.enqueueNew())) await note("d");
  const queued = await ledger.outbox.takeDeliveries("webhook", { limit: 100, holdMs: 1_000 });
  const positions = (await records()).map(({ seq }) => seq);
  expect(queued.map(({ seq }) => seq).toSorted((one, other) => one - other)).toEqual(positions);
});
