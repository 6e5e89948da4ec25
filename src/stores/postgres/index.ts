export type { PostgresStats } from "./database.ts";
export { inspectPostgresLedger } from "./inspect.ts";
export { type Migrated, migratePostgres, openPostgresLedger, type PostgresOptions } from "./open.ts";
