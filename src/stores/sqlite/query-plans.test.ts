import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { ManualClock } from "../../engine/index.ts";
import { ledgerContract } from "../../engine/ledger/ledger.contract.ts";
import { type Database, openDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { SqliteLedger } from "./sqlite-ledger.ts";

/** Reads all of something on purpose, because it holds little whatever the history. */
const SMALL = [
  // As many as processes that ran lately.
  /^SCAN owners$/,
  // As many as calls or model steps that run at this moment.
  /^SCAN calls USING COVERING INDEX calls_executing$/,
  /^SCAN frames USING INDEX frames_held$/,
  // As many as agents in one app.
  /^SCAN json_each VIRTUAL TABLE/,
  // As many as calls whose outcome is unknown.
  /^SCAN calls USING INDEX calls_unknown$/,
  // The same two, for their confirmations.
  /^SCAN k USING INDEX calls_(executing|unknown)$/,
  // Counted up to a limit.
  /^SCAN few$/,
  // The ids that were asked for.
  /^SCAN wanted VIRTUAL TABLE/,
  // As many as asked for one call.
  /^SCAN asked EXISTS VIRTUAL TABLE/,
  // From the end, one row.
  /^SCAN checkpoints$/,
  /^SCAN sqlite_schema$/,
  /^SCAN CONSTANT ROW$/,
];

/** Sorts what an index has already reduced to one session's part, or to little whatever the history. */
const SORTS = [
  /from confirmations c indexed by confirmations_session/,
  /from json_each\(\?\) wanted cross join calls/,
  /from calls k indexed by calls_(executing|unknown)/,
  // A bounded number of a word's entries, and one page.
  /^select distinct e\.deadline, e\.confirmation from search_words/,
  /from json_each\(\?\) wanted cross join confirmations/,
];

let statements: readonly string[];
let database: Database;

beforeAll(async () => {
  const databases: Database[] = [];
  const clock = new ManualClock();
  const open = async (): Promise<SqliteLedger> => {
    const opened = await openDatabase({ path: ":memory:" });
    databases.push(opened);
    await migrate(opened, MIGRATIONS);
    return new SqliteLedger(opened, randomBytes(32), clock);
  };
  const seen = new Set<string>();
  for (const { needs, run } of ledgerContract) {
    if (needs === undefined) await run({ open, reopen: open, clock });
    for (const each of databases) for (const sql of each.statements) seen.add(sql);
  }
  statements = [...seen].filter((sql) => /^\s*(select|insert|update|delete)/.test(sql));
  database = await openDatabase({ path: ":memory:" });
  await migrate(database, MIGRATIONS);
});

test("the contract makes the store prepare its statements", () => {
  expect(statements.length).toBeGreaterThan(60);
});

test("no statement of the store reads a table from end to end", () => {
  const scans = plans().filter(
    ({ step }) => step.startsWith("SCAN") && !SMALL.some((small) => small.test(step)),
  );
  expect(scans).toEqual([]);
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
