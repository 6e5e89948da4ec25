import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { DocumentLedger, type Ledger, ManualClock } from "../../engine/index.ts";
import { ledgerContract } from "../../engine/ledger/ledger.contract.ts";
import { type Database, openDatabase } from "./connection/database.ts";
import { migrate } from "./schema/migrate.ts";
import { MIGRATIONS } from "./schema/schema.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** Reads all of something on purpose, because it holds little whatever the history. */
const SMALL = [
  // As many as processes that ran lately.
  /^SCAN owners$/,
  // Agents in one app, or keys that were asked for.
  /^SCAN wanted VIRTUAL TABLE/,
  // From the end, one row.
  /^SCAN checkpoints$/,
  /^SCAN sqlite_schema$/,
  /^SCAN CONSTANT ROW$/,
];

/** Sorts only what was asked for by name. */
const SORTS = [/^select d\.key, d\.app, d\.user, d\.id, d\.version, d\.body from json_each/];

/** For the whole contract, on a loaded machine. */
const CONTRACT_MS = 60_000;

let statements: readonly string[];
let database: Database;

beforeAll(async () => {
  const databases: Database[] = [];
  const clock = new ManualClock();
  const open = async (): Promise<Ledger> => {
    const opened = await openDatabase({ path: ":memory:" });
    databases.push(opened);
    await migrate(opened, MIGRATIONS);
    return new DocumentLedger(new SqliteStore(opened, randomBytes(32), clock));
  };
  const seen = new Set<string>();
  for (const { needs, run } of ledgerContract) {
    if (needs === undefined) await run({ open, reopen: open, clock });
    for (const each of databases) for (const sql of each.statements) seen.add(sql);
  }
  statements = [...seen].filter((sql) => /^\s*(select|insert|update|delete)/.test(sql));
  database = await openDatabase({ path: ":memory:" });
  await migrate(database, MIGRATIONS);
}, CONTRACT_MS);

test("the contract makes the store prepare its statements", () => {
  expect(statements.length).toBeGreaterThan(40);
});

test("no statement of the store reads a table from end to end", () => {
  const scans = plans().filter(
    ({ step }) => step.startsWith("SCAN") && !SMALL.some((small) => small.test(step)),
  );
  expect(scans).toEqual([]);
});

test("a page of entries begins at its place, and not at the beginning of its value", () => {
  const pages = plans().filter(
    ({ sql }) => /^select .* from entries .* order by/.test(sql) && !sql.includes("owners"),
  );
  const begins = pages.filter(({ step }) => step.includes("entries"));
  expect(begins.length).toBeGreaterThan(2);
  for (const { step } of begins)
    expect(step).toMatch(/facet=\? AND (value=\? AND \(sort,id\)[<>]\(\?,\?\)|value>\? AND value<\?)/);
});

test("no statement sorts more than one session's part or a bounded few", () => {
  const sorts = plans().filter(
    ({ sql, step }) => step.includes("TEMP B-TREE") && !SORTS.some((allowed) => allowed.test(sql)),
  );
  expect(sorts).toEqual([]);
});

function plans(): { sql: string; step: string }[] {
  return statements.flatMap((sql) =>
    database.all(`explain query plan ${sql}`).map((row) => ({ sql, step: String(row[3]) })),
  );
}
