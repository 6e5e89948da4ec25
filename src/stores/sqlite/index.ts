export { openSqliteLedger, type SqliteOptions } from "./open.ts";
