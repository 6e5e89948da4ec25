export { type InspectOptions, inspectSqliteLedger, type LedgerState } from "./inspect.ts";
export { openSqliteLedger, type SqliteOptions } from "./open.ts";
