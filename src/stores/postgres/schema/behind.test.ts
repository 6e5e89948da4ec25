import { expect, test, vi } from "vitest";
import { createEmptyDatabase } from "../../../../test/support/postgres/database.ts";
import { execute } from "../../../../test/support/postgres/server.ts";
import { useResources } from "../../../../test/support/resources.ts";
import { SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { type Database, openDatabase as openUrl } from "../connection/index.ts";
import { migratePostgres, openPostgresLedger } from "../open.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";

// As it will be when there is a second step.
vi.mock(import("./migrations.ts"), async (original) => {
  const { MIGRATIONS: released } = await original();
  return { MIGRATIONS: [...released, { version: released.length + 1, texts: ["select 1"] }] };
});

const SCHEMA = "select value::integer as version from countersign.meta where name = 'schema'";
const resources = useResources();

async function open(url: string, options: { readonly migrate?: boolean } = {}) {
  const ledger = await openPostgresLedger({ url, ...options });
  resources.add(() => ledger.close());
  return ledger;
}

async function openDatabase(url: string): Promise<Database> {
  const database = await openUrl(url);
  resources.add(() => database.close());
  return database;
}

test("a schema that is behind is refused unless it may be migrated", async () => {
  const url = await createEmptyDatabase(resources);
  await migrate(await openDatabase(url), MIGRATIONS.slice(0, 1));
  await expect(open(url)).rejects.toMatchObject({ code: "ledger-older", details: { found: 1 } });
  const ledger = await open(url, { migrate: true });
  expect(await new SessionWriter(ledger, "s1").commit()).toEqual({ ok: true });
});

test("a schema that is behind and of another build is not migrated", async () => {
  const url = await createEmptyDatabase(resources);
  await migrate(await openDatabase(url), MIGRATIONS.slice(0, 1));
  await execute(url, "update countersign.meta set value = 'other' where name = 'fingerprint-1'");
  await expect(migratePostgres(url)).rejects.toMatchObject({
    code: "ledger-mismatch",
  });
  expect((await execute(url, SCHEMA))[0]?.rows).toEqual([{ version: 1 }]);
});
