import { randomBytes } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { Engine, ManualClock } from "../../engine/index.ts";
import { buildQuestion, SessionWriter } from "../../engine/ledger/contract/build.ts";
import { tryApprove } from "../../engine/testing/try-decide.ts";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";

/** More than are looked through before the index is asked. */
const CROWD = 600;

let database: Database;
let ledger: SqliteLedger;

beforeEach(async () => {
  database = await openDatabase({ path: ":memory:" });
  await migrate(database, MIGRATIONS);
  ledger = new SqliteLedger(database, randomBytes(32), new ManualClock());
});

async function find(words: string): Promise<readonly string[]> {
  const { items } = await ledger.confirmations({ state: "open", words });
  return items.map(({ confirmation }) => confirmation.id);
}

function indexed(): readonly unknown[] {
  return [
    database.get("select count(*) from searchable")?.[0],
    database.get("select count(*) from search_words where word = 'SWORDFISH'")?.[0],
  ];
}

async function ask(
  key: string,
  id: string,
  args: { readonly [name: string]: string },
): Promise<SessionWriter> {
  const writer = new SessionWriter(ledger, key);
  await writer.commit([...buildQuestion(key, id, { call: { args } }), writer.journal("asked")]);
  return writer;
}

test("a commit writes nothing to the index; a search, or tidying, does", async () => {
  await ask("s1", "c1", { to: "swordfish" });
  expect(indexed()).toEqual([0, 0]);
  expect(await find("sword")).toEqual(["c1"]);
  expect(indexed()).toEqual([1, 1]);
  await ask("s2", "c2", { to: "swordfish" });
  await ledger.tidy();
  expect(indexed()).toEqual([2, 2]);
});

test("erasing a session takes its words out of the index in the same commit", async () => {
  const writer = await ask("s1", "c1", { to: "swordfish" });
  await ask("s2", "c2", { to: "swordfish" });
  await find("sword");
  await writer.commit([{ kind: "erase" }]);
  expect(indexed()).toEqual([1, 1]);
});

test("what is closed leaves the index when it is next brought up to date", async () => {
  const writer = await ask("s1", "c1", { to: "swordfish" });
  await find("sword");
  const close = {
    kind: "confirmation-update",
    id: "c1",
    from: "requested",
    set: { status: "denied" },
  } as const;
  await writer.commit([close, writer.journal("denied")]);
  expect(indexed()).toEqual([1, 1]);
  await ledger.tidy();
  expect(indexed()).toEqual([0, 0]);
});

test("an entry that is out of date shows nothing that is closed, however it is found", async () => {
  const writer = new SessionWriter(ledger, "s1");
  const crowd = Array.from({ length: CROWD }, (_, i) => buildQuestion("s1", `a${i}`)).flat();
  const args = { to: "swordfish" };
  await writer.commit([
    ...crowd,
    ...buildQuestion("s1", "b1", { call: { args } }),
    ...buildQuestion("s1", "b2", { call: { args } }),
    writer.journal("asked"),
  ]);
  expect(await find("swordfish")).toEqual(["b1", "b2"]);
  // Without its record the index cannot know.
  const close = {
    kind: "confirmation-update",
    id: "b1",
    from: "requested",
    set: { status: "denied" },
  } as const;
  await writer.commit([close]);
  expect(indexed()).toEqual([CROWD + 2, 2]);
  expect(await find("swordfish")).toEqual(["b2"]);
});

test("a question of the engine is found from its commit on, and not from its answer on", async () => {
  const engine = new Engine({ ledger });
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => 1);
  const asked = await pay({ to: "Lisbon" }, { key: "k1", by: { id: "ana" } });
  if (asked.status !== "pending") throw new Error(asked.status);
  expect(await find("pay lisbon")).toEqual([asked.confirmation.id]);
  const receipt = await tryApprove(engine, asked.confirmation.id, { by: { id: "ana" } });
  expect(receipt.ok).toBe(true);
  expect(await find("pay lisbon")).toEqual([]);
  await engine.finished(receipt.ok ? receipt.call.id : "");
});
