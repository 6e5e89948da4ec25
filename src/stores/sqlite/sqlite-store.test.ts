import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { ManualClock, type StoreCommit } from "../../engine/index.ts";
import { openDatabase } from "./connection/database.ts";
import { openSqliteStore } from "./open.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { buildCommit } from "./testing/build-commit.ts";

const OK = { ok: true };
const LEASE_MS = 1_000;
const OWNER = { host: "h", pid: 1 };
const DAY_MS = 24 * 60 * 60 * 1_000;

const resources = useResources();
let clock: ManualClock;
let path: string;
let store: SqliteStore;

beforeEach(async () => {
  clock = new ManualClock();
  path = join(await resources.folder(), "ledger.db");
  store = await openSqliteStore({ path, clock });
  resources.add(() => store.close());
});

function entry(facet: string, value: string, sort = 1, note?: string): StoreCommit["add"][number] {
  return { facet, value, sort, id: `${value}-${sort}`, ...(note === undefined ? {} : { note }) };
}

async function add(...entries: readonly StoreCommit["add"][number][]): Promise<void> {
  await store.change({ items: [], add: entries });
}

describe("a commit is refused", () => {
  const item = { kind: "k", id: "i", value: 1, read: 7 };

  test.each<[string, Partial<StoreCommit>]>([
    ["an owner", { owner: "nobody" }],
    ["a deadline", { before: 0 }],
    ["a moment", { from: Number.MAX_SAFE_INTEGER }],
    ["an item", { items: [item] }],
  ])("for its version first, also where %s would refuse it too", async (_, over) => {
    expect(await store.commit(buildCommit("a", 1))).toEqual(OK);
    const version = { ok: false, conflict: "version" };
    expect(await store.commit(buildCommit("a", 1, over))).toEqual(version);
    expect(await store.commit(buildCommit("a", 3, over))).toEqual(version);
    // Of a name that another session has.
    const create = { app: "bank", user: "ana", id: "a" };
    expect(await store.commit(buildCommit("b", 1, { ...over, create }))).toEqual(version);
    expect(await store.commit(buildCommit("a", 2, over))).toMatchObject({ ok: false });
    expect(await store.commit(buildCommit("a", 2, over))).not.toEqual(version);
    expect(await store.commit(buildCommit("a", 2))).toEqual(OK);
  });

  test("for another hash at the head, of the same version", async () => {
    await store.commit(buildCommit("a", 1));
    const version = { ok: false, conflict: "version" };
    expect(await store.commit(buildCommit("a", 2, { head: "another" }))).toEqual(version);
    expect(await store.commit(buildCommit("a", 2, { head: "another", owner: "nobody" }))).toEqual(version);
    expect(await store.commit(buildCommit("a", 2, { head: "a-1" }))).toEqual(OK);
  });
});

describe("entries", () => {
  test("by prefix are those of every value that begins with it, in the order of values", async () => {
    await add(
      entry("word", "pay", 3),
      entry("word", "pay", 2),
      entry("word", "payment", 1, "n"),
      entry("word", "pax", 1),
      entry("word", "paz", 1),
      entry("word", "pay\u{1f40e}", 1),
      entry("other", "pay", 1),
    );
    const query = { facet: "word", value: "pay", prefix: true, limit: 10 } as const;
    const idsOf = async (over: object): Promise<readonly string[]> =>
      ((await store.entries([{ ...query, ...over }]))[0] ?? []).map(({ id }) => id);
    expect(await idsOf({})).toEqual(["pay-2", "pay-3", "payment-1", "pay\u{1f40e}-1"]);
    expect(await idsOf({ limit: 2 })).toEqual(["pay-2", "pay-3"]);
    expect(await idsOf({ until: 2 })).toEqual(["pay-2", "payment-1", "pay\u{1f40e}-1"]);
    expect(await idsOf({ notes: ["n"] })).toEqual(["payment-1"]);
    expect(await idsOf({ value: "" })).toHaveLength(6);
  });

  test("of several queries are of the same moment, whatever another process commits meanwhile", async () => {
    await add(entry("a", "x"));
    const database = await openDatabase({ path });
    const looking = new SqliteStore(database, new Uint8Array(), clock);
    resources.add(() => looking.close());
    const raw = new DatabaseSync(path);
    resources.add(() => raw.close());
    const all = database.all.bind(database);
    database.all = (...args) => {
      const rows = all(...args);
      raw.exec("update entries set facet = 'b' where facet = 'a'");
      return rows;
    };
    const look = () => looking.entries(["a", "b"].map((facet) => ({ facet, value: "x", limit: 1 })));
    expect((await look()).map((page) => page.length)).toEqual([1, 0]);
    expect((await look()).map((page) => page.length)).toEqual([0, 1]);
  });
});

describe("a page of the log", () => {
  beforeEach(async () => {
    for (let n = 1; n <= 5; n += 1) await store.commit(buildCommit("a", n));
  });

  const bytes = Buffer.byteLength('{"of":"a-1"}');

  test.each([
    ["from the oldest", {}, [1, 2, 3, 4, 5]],
    ["of the newest, in order", { last: true as const, limit: 2 }, [4, 5]],
    ["between two", { after: 1, until: 3 }, [2, 3]],
    ["of so many bytes", { bytes: 2 * bytes }, [1, 2]],
    ["of the newest, of so many bytes", { last: true as const, bytes: 2 * bytes }, [4, 5]],
    ["of one row at least", { bytes: 1 }, [1]],
  ])("%s", async (_, range, expected) => {
    const whole = { after: 0, limit: 10, ...range };
    expect((await store.log(whole)).map(({ seq }) => seq)).toEqual(expected);
    expect((await store.log({ session: "a", ...whole })).map(({ n }) => n)).toEqual(expected);
  });
});

describe("erasing", () => {
  test("takes the bodies and the session's state, and keeps hashes, kinds and what is behind it", async () => {
    await store.commit(
      buildCommit("a", 1, { items: [{ kind: "state of session", id: "a", value: { x: 1 } }] }),
    );
    await store.commit(
      buildCommit("b", 1, { items: [{ kind: "state of session", id: "b", value: { x: 1 } }] }),
    );
    await store.commit(buildCommit("a", 2, { erase: true }));
    const rows = await store.log({ after: 0, limit: 10 });
    expect(rows.map(({ hash, body }) => [hash, body])).toEqual([
      ["a-1", null],
      ["b-1", '{"of":"b-1"}'],
      ["a-2", '{"of":"a-2"}'],
    ]);
    const states = await store.items(["a", "b"].map((id) => ({ kind: "state of session", id })));
    expect(states.map(({ id }) => id)).toEqual(["b"]);
  });
});

describe("what is lost", () => {
  const facets = ["held call", "held frame"];
  const queries = facets.map((facet) => ({ facet }));

  test("is what is held by nobody who lives, so many of each facet; looking fences who is overdue", async () => {
    await store.beat({ ...OWNER, id: "dead" }, LEASE_MS);
    await clock.advance(LEASE_MS);
    await store.beat({ ...OWNER, id: "alive" }, LEASE_MS);
    await add(
      ...["dead", "alive", "unheard"].flatMap((id) => facets.map((facet) => entry(facet, id))),
      entry("held call", "dead", 2),
    );
    const lost = await store.lost(queries, 10);
    expect(lost.map(({ facet, id }) => `${facet} ${id}`)).toEqual([
      "held call dead-1",
      "held call dead-2",
      "held call unheard-1",
      "held frame dead-1",
      "held frame unheard-1",
    ]);
    expect(await store.lost(queries, 1)).toHaveLength(2);
    expect(await store.owner("dead")).toMatchObject({ fenced: true, alive: false });
    expect(await store.beat({ ...OWNER, id: "dead" }, LEASE_MS)).toBe(false);
    expect(await store.beat({ ...OWNER, id: "alive" }, LEASE_MS)).toBe(true);
  });

  test("tidying keeps owners of what is held or unknown, and drops others after a day", async () => {
    for (const id of ["holds", "ran", "idle"]) await store.beat({ ...OWNER, id }, LEASE_MS);
    await add(entry("held frame", "holds"), entry("unknown call", "", 0, "ran"));
    await clock.advance(LEASE_MS + DAY_MS - 1);
    await store.tidy();
    expect(await store.owner("idle")).toBeDefined();
    await clock.advance(1);
    await store.tidy();
    const left = await Promise.all(["holds", "ran", "idle"].map((id) => store.owner(id)));
    expect(left.map((each) => each?.id)).toEqual(["holds", "ran", undefined]);
  });
});

describe("a checkpoint", () => {
  const checkpoint = { k: 1, lastSeq: 1, count: 1, root: "r", hash: "h", at: 1 };

  test("is sealed upon the row and the checkpoint that it was made upon, once", async () => {
    await store.commit(buildCommit("a", 1));
    const rows = [{ seq: 1, hash: "a-1" }];
    expect(await store.seal(checkpoint, { rows: [{ seq: 1, hash: "another" }] })).toBe(false);
    expect(await store.seal(checkpoint, { rows })).toBe(true);
    expect(await store.seal(checkpoint, { rows })).toBe(false);
    const next = { ...checkpoint, k: 2, hash: "h2" };
    expect(await store.seal(next, { rows, previous: "another" })).toBe(false);
    expect(await store.seal(next, { rows, previous: "h" })).toBe(true);
    expect(await store.checkpoints("last")).toEqual([next]);
  });
});
