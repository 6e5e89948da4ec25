import { type MigrationPlan, planMigrations } from "../../sql/migration-plan.ts";
import type { Database } from "../connection/index.ts";
import { locksOf } from "./locks.ts";
import { assertOurs, type Migration, readSchema } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";

const ROWS =
  "select relname::text, greatest(reltuples, 0)::bigint from pg_class " +
  "where relnamespace = to_regnamespace('countersign') and relkind in ('r', 'p')";

/** What a migration would do, from the server's estimates of how many rows there are. Changes nothing. */
export async function planMigration(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<MigrationPlan> {
  const schema = await readSchema(database);
  assertOurs(schema, database.name);
  const found = await database.all(ROWS, [], { named: false });
  const rows = new Map(found.map(([table, count]) => [table as string, Number(count)]));
  const own = migrations.map((migration) => ({
    ...migration,
    texts: migration.texts.map((text) => database.inSchema(text)),
  }));
  return planMigrations(
    { from: schema.version, migrations: own },
    (table) => rows.get(table) ?? 0,
    (statement) => locksOf(statement, (table) => rows.has(table)),
  );
}
