import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { isLong } from "../../../test/support/effort.ts";
import {
  connect,
  createDatabase,
  createSchema,
  DatabaseClock,
} from "../../../test/support/postgres/database.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { watchQueries } from "../../../test/support/postgres/watch-queries.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Ledger } from "../../engine/index.ts";
import { type LedgerSubject, ledgerContract } from "../../engine/ledger/ledger.contract.ts";
import { migratePostgres, openPostgresLedger } from "./open.ts";

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

const SCHEMA = "countersign_acme";
const resources = useResources();
/** What the store sends while it is held to the contract. */
const statements = new Map<string, pg.QueryConfig>();

/** The database's clock stands still but for the tests; this process carries it forward by its own, which does so too. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ["Date"] });
}

function createSubject(options: string): LedgerSubject {
  const clock = new DatabaseClock();
  let url = "";
  const openLast = async (): Promise<Ledger> => {
    const ledger = await openPostgresLedger({ url: url + options });
    resources.add(() => ledger.close());
    return ledger;
  };
  return {
    clock,
    open: async () => {
      url = await createDatabase(resources, clock);
      if (options.includes("schema=")) await createSchema(url, SCHEMA, () => makeSchema(url, options));
      return openLast();
    },
    reopen: openLast,
  };
}

/** Another ledger in the same database, which goes by the same clock. */
async function makeSchema(url: string, options: string): Promise<void> {
  await migratePostgres(url + options);
  await execute(
    url,
    `create or replace function ${SCHEMA}.now_ms() returns bigint language sql volatile as 'select countersign.now_ms()'`,
  );
}

describe("a ledger on PostgreSQL keeps the contract", () => {
  let unwatch: (() => void) | undefined;
  beforeAll(() => {
    stopTime();
    unwatch = watchQueries((sent) => {
      const known = /^\s*(select|insert|update|delete|with)/.test(sent.text) && sent.values !== undefined;
      if (known) statements.set(sent.text, sent);
    });
  });
  afterAll(() => {
    unwatch?.();
    vi.useRealTimers();
  });

  test.each(ledgerContract)("$name", async ({ run }) => {
    await expect(run(createSubject(""))).resolves.toBeUndefined();
  });
});

/** The statements are the same but for a name: `npm test` has every fifth case, `npm run test:all` has them all. */
const SCHEMA_CASES = isLong ? ledgerContract : ledgerContract.filter((_, index) => index % 5 === 0);

describe("a ledger in a schema of its own keeps the contract, without prepared statements", () => {
  beforeAll(stopTime);
  afterAll(() => {
    vi.useRealTimers();
  });

  test.each(SCHEMA_CASES)("$name", async ({ run }) => {
    await expect(run(createSubject(`?prepare=false&schema=${SCHEMA}`))).resolves.toBeUndefined();
  });
});

test("the contract makes the store send its statements", () => {
  expect(statements.size).toBeGreaterThan(30);
});

test("no statement of the store has to read a table from end to end", async () => {
  const client = await connect(resources, await createDatabase(resources));
  // Tables are empty here, and would be read from end to end for that alone.
  await client.query("set enable_seqscan = off");
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
