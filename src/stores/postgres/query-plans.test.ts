import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, DatabaseClock } from "../../../test/support/postgres-database.ts";
import { Resources } from "../../../test/support/resources.ts";
import { watchQueries } from "../../../test/support/watch-queries.ts";
import { ledgerContract } from "../../engine/ledger/ledger.contract.ts";
import { openPostgresLedger } from "./open.ts";

/** Reads all of something on purpose, because it holds little whatever the history. */
const SMALL: ReadonlySet<string> = new Set([
  // As many as processes that ran lately.
  "owners",
]);

/** A step of a plan, as `explain (format json)` has it. */
interface Step {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly Plans?: readonly Step[];
}

const resources = new Resources();
const statements = new Map<string, pg.QueryConfig>();
let client: pg.Client;

beforeAll(async () => {
  const restore = watchQueries((sent) => {
    const known = /^\s*(select|insert|update|delete|with)/.test(sent.text) && sent.values !== undefined;
    if (known) statements.set(sent.text, sent);
  });
  for (const { needs, run } of ledgerContract) {
    if (needs !== undefined) continue;
    const clock = new DatabaseClock();
    const own = new Resources();
    const open = async () => {
      const ledger = await openPostgresLedger({ url: await createDatabase(own, clock) });
      own.add(() => ledger.close());
      return ledger;
    };
    await run({ open, reopen: open, clock });
    await own.release();
  }
  restore();
  client = new pg.Client({ connectionString: await createDatabase(resources) });
  await client.connect();
  // Tables are empty here, and would be read from end to end for that alone.
  await client.query("set enable_seqscan = off");
}, 120_000);

afterAll(async () => {
  await client.end();
  await resources.release();
});

test("the contract makes the store send its statements", () => {
  expect(statements.size).toBeGreaterThan(60);
});

test("no statement of the store has to read a table from end to end", async () => {
  const scans: { readonly table: string; readonly text: string }[] = [];
  for (const { text, values } of statements.values()) {
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Step }] }>(`explain (format json) ${text}`, [
      ...((values ?? []) as readonly unknown[]),
    ]);
    const plan = rows[0]?.["QUERY PLAN"][0].Plan;
    for (const table of plan === undefined ? [] : scannedBy(plan)) {
      if (!SMALL.has(table)) scans.push({ table, text });
    }
  }
  expect(scans).toEqual([]);
});

function scannedBy(step: Step): readonly string[] {
  const own = step["Node Type"] === "Seq Scan" ? [step["Relation Name"] ?? ""] : [];
  return [...own, ...(step.Plans ?? []).flatMap(scannedBy)];
}
