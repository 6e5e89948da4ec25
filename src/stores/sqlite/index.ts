export { copySqliteFile, writeSqliteFile } from "./copy.ts";
export { eraseSqliteLedger } from "./erase.ts";
export { openSqliteLedger, type SqliteOptions } from "./open.ts";
export { type InspectOptions, inspectSqliteLedger, type LedgerState } from "./schema/inspect.ts";
export { planSqliteMigration } from "./schema/plan.ts";
