import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../../../test/support/resources.ts";
import { statementsOf } from "../../sql/migration-plan.ts";
import { openSqliteLedger } from "../open.ts";
import type { Migration } from "./migrate.ts";
import { planSqliteMigration } from "./plan.ts";
import { MIGRATIONS } from "./schema.ts";

const resources = useResources();
const newest = MIGRATIONS.at(-1)?.version ?? 0;

test("a plan of a file that is missing names what would be made, and makes nothing", async () => {
  const path = join(await resources.folder(), "ledger.db");
  const plan = planSqliteMigration(path);
  expect(plan).toMatchObject({ from: 0, to: newest });
  expect(plan.migrations[0]?.statements[0]).toMatchObject({
    text: expect.stringMatching(/^create table meta/) as unknown,
    locks: [],
    seconds: 0,
  });
  expect(existsSync(path)).toBe(false);
});

test("a plan of a file that is behind has its statements, the lock and whether it is breaking", async () => {
  const path = join(await resources.folder(), "ledger.db");
  await (await openSqliteLedger({ path })).close();
  expect(planSqliteMigration(path).migrations).toEqual([]);
  const next: Migration = {
    version: newest + 1,
    breaking: true,
    texts: ["alter table log add column more text; update log set more = ';'"],
  };
  expect(planSqliteMigration(path, [...MIGRATIONS, next])).toEqual({
    from: newest,
    to: newest + 1,
    migrations: [
      {
        version: newest + 1,
        breaking: true,
        statements: [
          { text: "alter table log add column more text", locks: [expect.anything() as unknown], seconds: 0 },
          {
            text: "update log set more = ';'",
            locks: [{ table: "all", lock: "file", blocks: "writes", rows: 0 }],
            seconds: 0,
          },
        ],
      },
    ],
  });
  expect(planSqliteMigration(path)).toMatchObject({ from: newest, to: newest });
});

test("a text is split into its statements, whatever is quoted in it", () => {
  const text = `
-- A comment; with a semicolon.
create table a (x text default ';');
create function f() returns text language sql as $$ select ';' $$;
create function g() returns text as $body$ begin; $$ end $body$;
select "odd;name", -1`;
  expect(statementsOf(text)).toEqual([
    "create table a (x text default ';')",
    "create function f() returns text language sql as $$ select ';' $$",
    "create function g() returns text as $body$ begin; $$ end $body$",
    'select "odd;name", -1',
  ]);
});
