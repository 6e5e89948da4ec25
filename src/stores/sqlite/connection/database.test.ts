import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { useResources } from "../../../../test/support/resources.ts";
import { DocumentLedger, ManualClock } from "../../../engine/index.ts";
import { SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { openSqliteLedger } from "../open.ts";
import { migrate } from "../schema/migrate.ts";
import { MIGRATIONS } from "../schema/schema.ts";
import { SqliteStore } from "../sqlite-store.ts";
import { createNotingDriver, FULL, NORMAL } from "../testing/noting-driver.ts";
import { Database, openDatabase } from "./database.ts";

const COMMIT_PROGRAM = new URL("../testing/commit-program.ts", import.meta.url);

interface Started {
  readonly type: "started";
}
interface Done {
  readonly type: "done";
  readonly longestCommitMs: number;
  readonly longestBlockMs: number;
}

const resources = useResources();

test.each([
  [false, [NORMAL, FULL, FULL, NORMAL]],
  [true, [FULL, FULL, FULL, FULL]],
])(
  "commits are written as carefully as they ask to be (durability full: %s)",
  async (alwaysSync, expected) => {
    const path = join(await resources.folder(), "ledger.db");
    const { driver, levels } = createNotingDriver(path);
    driver.exec("pragma journal_mode = wal; pragma synchronous = normal");
    const database = new Database(driver, { path, alwaysSync });
    await migrate(database, MIGRATIONS);
    const ledger = new DocumentLedger(new SqliteStore(database, new Uint8Array(), new ManualClock()));
    const writer = new SessionWriter(ledger, "s1");
    levels.length = 0;
    for (const sync of [false, true, true, false]) await writer.commit([writer.event("x")], { sync });
    expect(levels).toEqual(expected);
    await ledger.close();
  },
);

test("a lock held elsewhere is waited for without blocking the event loop", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const ledger = await openSqliteLedger({ path });
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  const commit = new SessionWriter(ledger, "s1").commit();
  const first = await Promise.race([
    commit,
    new Promise((resolve) => setTimeout(() => resolve("event loop"), 30)),
  ]);
  expect(first).toBe("event loop");
  other.exec("rollback");
  expect(await commit).toEqual({ ok: true });
  other.close();
  await ledger.close();
});

test("a lock that is never given up ends in ledger-busy, and closing ends the wait", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const database = await openDatabase({ path, busyLimitMs: 40 });
  const patient = await openDatabase({ path });
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  await expect(database.write(false, () => {})).rejects.toMatchObject({ code: "ledger-busy" });
  const waiting = patient.write(false, () => {});
  patient.close();
  await expect(waiting).rejects.toMatchObject({ code: "closed" });
  other.close();
  database.close();
});

test("four processes that write at once all get their turn, and none freezes", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const commits = 150;
  const keys = ["a", "b", "c", "d"];
  const children = keys.map((key) =>
    resources.child<Started | Done>(COMMIT_PROGRAM, { args: [path, key, String(commits)] }),
  );
  await Promise.all(children.map((child) => child.line("started")));
  for (const child of children) child.send({ start: true });
  const waits = await Promise.all(children.map((child) => child.line("done")));
  // Generous for a loaded machine; SQLite's own busy handler made one writer wait, frozen, for seconds.
  for (const { longestCommitMs, longestBlockMs } of waits) {
    expect(longestCommitMs).toBeLessThan(3_000);
    expect(longestBlockMs).toBeLessThan(1_000);
  }
  const ledger = await openSqliteLedger({ path });
  for (const key of keys) expect(await ledger.events(key)).toHaveLength(commits);
  await ledger.close();
});
