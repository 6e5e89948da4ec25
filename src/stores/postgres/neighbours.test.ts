import { expect, test } from "vitest";
import { createEmptyDatabase } from "../../../test/support/postgres/database.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { useResources } from "../../../test/support/resources.ts";
import { SessionWriter } from "../../engine/ledger/contract/build.ts";
import { migratePostgres, openPostgresLedger } from "./open.ts";

const resources = useResources();

async function asNeighbour(url: string): Promise<string> {
  await execute(
    url,
    "do $$ begin create role neighbour login password 'x'; exception when duplicate_object then null; end $$",
    // As in every database made before PostgreSQL 15.
    "grant create on schema public to public",
  );
  const other = new URL(url);
  other.username = "neighbour";
  other.password = "x";
  return other.href;
}

test("an operator in the schema public does not run as the role that serves", async () => {
  const url = await createEmptyDatabase(resources);
  await migratePostgres(url);
  const neighbour = await asNeighbour(url);
  await execute(
    neighbour,
    "create table public.ran (who text)",
    "grant insert on public.ran to public",
    `create function public.times(numeric, integer) returns numeric language plpgsql volatile as $$
      begin insert into public.ran values (current_user); return 4102444800000::numeric; end $$`,
    "create operator public.* (function = public.times, leftarg = numeric, rightarg = integer)",
  );
  const ledger = await openPostgresLedger({ url });
  resources.add(() => ledger.close());
  await new SessionWriter(ledger, "s1").commit();
  await ledger.load({ sessionKey: "s1" });
  expect.soft(Math.abs(ledger.now - Date.now()), "the ledger's clock").toBeLessThan(60_000);
  const [ran] = await execute(url, "select distinct who from public.ran");
  expect.soft(ran?.rows).toEqual([]);
});
