import { expect, test } from "vitest";
import { connect, createDatabase } from "../../../test/support/postgres/database.ts";
import { buildCommit, openStore } from "../../../test/support/postgres/store.ts";
import { watchQueries } from "../../../test/support/postgres/watch-queries.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";

const resources = useResources();
const KEY = { kind: "k", id: "i" };

/** What a server's own JSON would refuse, put in another order or change. */
const ODD: readonly JsonObject[] = [
  { b: 1, a: { z: [1, { y: null }] }, 2: "two", 1: "one" },
  { a: "laid over", "": "empty", "a\0b": "NUL\0", "\ud800": "\udfff", '{"},\\': '"\\,{}' },
  {},
  { big: 12345678901234567000, tiny: 5e-324, huge: 1.7976931348623157e308, b: false, NULL: "NULL" },
  JSON.parse('{"__proto__": 1, "constructor": {"__proto__": 2}}') as JsonObject,
  { 1: null, "a\0b": [], "new\nline": "\t" },
];

test("objects are laid over each other as JavaScript does it, whatever is in them", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  let expected: JsonObject = {};
  for (const [at, value] of ODD.entries()) {
    expected = { ...expected, ...value };
    await store.commit(buildCommit(`s${at}`, 0, { items: [{ ...KEY, value }] }));
    const [item] = await store.items([KEY]);
    expect(JSON.stringify(item?.value)).toBe(JSON.stringify(expected));
    expect(item?.version).toBe(at + 1);
  }
  expect((await store.itemsOf("k", { after: "", limit: 9 }))[0]?.value).toEqual(expected);
});

test.each<[string, JsonValue]>([
  ["an object", { b: [1], a: {} }],
  ["an empty object", {}],
  ["a list", [1, "two", { three: 3 }]],
  ["an empty list", []],
  ["a text with a NUL", "a\0\ud800"],
  ["nothing", null],
  ["a number", 1e21],
])("%s is given back as it was kept, and anything can follow it", async (_, value) => {
  const store = await openStore(resources, await createDatabase(resources));
  expect(await store.change({ items: [{ ...KEY, value: "before", read: 0 }] })).toBe(true);
  expect(await store.change({ items: [{ ...KEY, value, read: 1 }] })).toBe(true);
  expect(await store.items([KEY])).toEqual([{ ...KEY, value, version: 2 }]);
  expect(await store.change({ items: [{ ...KEY, value: 1, read: 1 }] }), "of an old version").toBe(false);
  expect(await store.change({ items: [{ ...KEY, read: 2 }] })).toBe(true);
  expect(await store.items([KEY])).toEqual([]);
});

test("of changes that are made together all become true, or none", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  const entry = { facet: "f", value: "v", sort: 1, id: "i" };
  const items = [
    { ...KEY, value: 1, read: 0 },
    { kind: "k", id: "j", value: 1, read: 3 },
  ];
  expect(await store.change({ items, add: [entry] })).toBe(false);
  expect(await store.items([KEY])).toEqual([]);
  expect(await store.entries([{ facet: "f", value: "v", limit: 9 }])).toEqual([[]]);
  expect(await store.change({ items: items.slice(0, 1), add: [entry] })).toBe(true);
  // Taken away and added again: it is only changed.
  await store.change({ items: [], remove: [entry], add: [{ ...entry, note: "n" }] });
  expect(await store.entries([{ facet: "f", value: "v", limit: 9 }])).toEqual([[{ ...entry, note: "n" }]]);
});

test("what has expired is dropped in batches, all of it", async () => {
  const url = await createDatabase(resources);
  const store = await openStore(resources, url);
  const items = Array.from({ length: 2_500 }, (_, i) => ({ kind: "k", id: `i${i}`, value: i, read: 0 }));
  await store.change({ items: items.map((item, i) => ({ ...item, ...(i === 0 ? {} : { expiresAt: 1 }) })) });
  await store.tidy();
  const client = await connect(resources, url);
  expect((await client.query("select id from countersign.items")).rows).toEqual([{ id: "i0" }]);
});

test("the newest lines of so many bytes are the newest, in order", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  for (let version = 0; version < 5; version += 1) await store.commit(buildCommit("s", version));
  const [row] = await store.log({ after: 0, limit: 1 });
  const bytes = 2 * Buffer.byteLength(row?.body ?? "");
  const range = { after: 0, limit: 9, bytes, last: true } as const;
  expect((await store.log(range)).map(({ n }) => n)).toEqual([4, 5]);
  expect((await store.log({ session: "s", ...range })).map(({ n }) => n)).toEqual([4, 5]);
});

/** How often items are read meanwhile. */
async function readsOf(work: () => Promise<unknown>): Promise<number> {
  let reads = 0;
  const restore = watchQueries(({ text }) => {
    if (text.includes("wanted (kind, id, place)")) reads += 1;
  });
  await work().finally(restore);
  return reads;
}

test("items that a commit wants come with it, in their order, whatever is committed with it", async () => {
  const store = await openStore(resources, await createDatabase(resources));
  const odd = { kind: "k", id: 'o\u{1f600}"' };
  const missing = [
    { kind: "k", id: "not\0there" },
    { kind: "k", id: "gone" },
  ];
  const value = Object.assign({}, ...ODD) as JsonObject;
  const gone = { kind: "k", id: "gone", value: 1, read: 0, expiresAt: 1 };
  await store.change({ items: [{ ...KEY, value: "one", read: 0 }, { ...odd, value, read: 0 }, gone] });
  const reads = await readsOf(async () => {
    await Promise.all([
      store.commit(buildCommit("s1", 0, { wants: [odd, KEY] })),
      store.commit(buildCommit("s2", 0, { wants: missing })),
      store.commit(buildCommit("s3", 0)),
    ]);
    const [both, again, none] = await Promise.all([
      store.items([odd, KEY]),
      store.items([odd, KEY]),
      store.items(missing),
    ]);
    expect(both).toEqual([
      { ...odd, value, version: 1 },
      { ...KEY, value: "one", version: 1 },
    ]);
    expect([again, none]).toEqual([both, []]);
  });
  expect(reads, "reads").toBe(0);
  expect(await readsOf(() => store.items([KEY])), "of others").toBe(1);
  const refused = await store.commit(buildCommit("s1", 0, { wants: [KEY] }));
  expect(refused).toEqual({ ok: false, conflict: "version" });
  expect(await readsOf(() => store.items([KEY])), "after a refusal").toBe(1);
});

test("who asks later, or after something was written here, reads the items anew", async () => {
  const url = await createDatabase(resources);
  const store = await openStore(resources, url);
  const other = await openStore(resources, url);
  const valueNow = async () => (await store.items([KEY]))[0]?.value;
  await store.change({ items: [{ ...KEY, value: { n: 1 }, read: 0 }] });
  await store.commit(buildCommit("s1", 0, { wants: [KEY] }));
  await other.change({ items: [{ ...KEY, value: { n: 2 }, read: 1 }] });
  expect(await valueNow(), "of another process").toEqual({ n: 2 });
  await Promise.all([
    store.commit(buildCommit("s1", 1, { wants: [KEY] })),
    store.commit(buildCommit("s2", 0, { items: [{ ...KEY, value: { n: 3 } }] })),
  ]);
  expect(await valueNow(), "of the same statement").toEqual({ n: 3 });
  await store.commit(buildCommit("s1", 2, { wants: [KEY], items: [{ ...KEY, value: { n: 4 } }] }));
  expect(await valueNow(), "of the same commit").toEqual({ n: 4 });
  await Promise.all([
    store.commit(buildCommit("s1", 3, { wants: [KEY] })),
    store.change({ items: [{ ...KEY, value: { n: 5 }, read: 4 }] }),
  ]);
  expect(await valueNow(), "of a change").toEqual({ n: 5 });
});
