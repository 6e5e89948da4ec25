/**
 * A ledger in a SQLite file, on `node:sqlite`. Decided here: how a store's operations become statements, and which of them wait
 * for the disk; how processes share the file; and who may read it.
 */

export { copySqliteFile, writeSqliteFile } from "./copy.ts";
export { eraseSqliteLedger } from "./erase.ts";
export { openSqliteLedger, type SqliteOptions } from "./open.ts";
export { type InspectOptions, inspectSqliteLedger, type LedgerState } from "./schema/inspect.ts";
export { planSqliteMigration } from "./schema/plan.ts";
