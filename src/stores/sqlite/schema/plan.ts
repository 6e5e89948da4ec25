import { DatabaseSync } from "node:sqlite";
import { type MigrationPlan, planMigrations } from "../../sql/migration-plan.ts";
import { toLedgerError } from "../connection/sqlite-errors.ts";
import { inspectSqliteLedger } from "./inspect.ts";
import type { Migration } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

/**
 * What a migration of a file would do. It would be one transaction: writers wait, readers do not. Changes nothing.
 */
export function planSqliteMigration(
  path: string,
  migrations: readonly Migration[] = MIGRATIONS,
): MigrationPlan {
  const { exists, version } = inspectSqliteLedger(path);
  const rows = exists ? countRows(path) : 0;
  const locksWhole = exists ? ([{ table: "all", lock: "file", blocks: "writes" }] as const) : [];
  return planMigrations(
    { from: version, migrations },
    () => rows,
    () => locksWhole,
  );
}

/** The number of rows of the log, the largest table. */
function countRows(path: string): number {
  let driver: DatabaseSync | undefined;
  try {
    driver = new DatabaseSync(path, { readOnly: true, timeout: 1_000 });
    const row = driver.prepare("select coalesce(max(seq), 0) as rows from log").get();
    return Number(row?.["rows"] ?? 0);
  } catch (error) {
    throw toLedgerError(error, path);
  } finally {
    driver?.close();
  }
}
