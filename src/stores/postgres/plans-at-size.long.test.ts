import { afterAll, beforeAll, expect, test } from "vitest";
import { type Filling, fillLedger } from "../../../test/support/ledger/full-ledger.ts";
import { createEmptyDatabase } from "../../../test/support/postgres/database.ts";
import { faultsOf, PLAN_CASES } from "../../../test/support/postgres/plan-cases.ts";
import { explainAll, plansOf } from "../../../test/support/postgres/plan-watch.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { Resources } from "../../../test/support/resources.ts";
import type { Ledger } from "../../engine/index.ts";
import { migratePostgres, openPostgresLedger } from "./open.ts";

const FILLING: Filling = { pending: 30_000, answered: 10_000, overdueOneIn: 200, deliveries: 5_000 };
/** A prepared statement is planned with its values five times; then a plan for all values is considered. */
const TIMES = 7;
/** A table with more rows than this is one that grows. */
const MANY = 2_000;

const resources = new Resources();
let ledger: Ledger;
let big: ReadonlySet<string>;

beforeAll(async () => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  await fillLedger(url, FILLING);
  big = await tablesWith(url, MANY);
  await explainAll(url);
  ledger = await openPostgresLedger({ url: `${url}?pool=1` });
  resources.add(() => ledger.close());
}, 120_000);

afterAll(() => resources.release());

test("the ledger is full enough that a table without its index would be read from end to end", () => {
  expect([...big].sort()).toEqual(["documents", "entries", "items", "log"]);
});

test.each(PLAN_CASES)("$name: no more of a full ledger is looked at than is asked for", async (one) => {
  const plans = await plansOf(async () => {
    for (let time = 0; time < TIMES; time += 1) await one.read(ledger, FILLING);
  });
  expect(plans.length).toBeGreaterThanOrEqual(TIMES);
  expect([...new Set(plans.flatMap((plan) => faultsOf(plan, one.rows, big)))]).toEqual([]);
});

async function tablesWith(url: string, rows: number): Promise<ReadonlySet<string>> {
  const [found] = await execute(
    url,
    `select relname from pg_class where relnamespace = 'countersign'::regnamespace and relkind = 'r' and reltuples > ${rows}`,
  );
  return new Set(found?.rows.map(({ relname }: { readonly relname: string }) => relname));
}
