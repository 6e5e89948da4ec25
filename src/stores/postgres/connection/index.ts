/**
 * Connections to a server that may be slow, silent, replaced or behind a pooler, and the one place where statements are tried
 * again. Decided here: which server is asked, which connection a statement goes on, and what an error means.
 */
export type { Database } from "./database.ts";
export { hasNul, type LoneConnection, type PostgresValue, type Row } from "./driver.ts";
export { openDatabase, openStandbys } from "./open-database.ts";
export { isGuardRaised, isLockTimeout, isUndefined, READ_ONLY, toLedgerError } from "./postgres-errors.ts";
