export type { LedgerStats } from "../../engine/index.ts";
export { inspectPostgresLedger } from "./inspect.ts";
export { type Migrated, migratePostgres, openPostgresLedger, type PostgresOptions } from "./open.ts";
export { listPostgresRisks, type Risk } from "./risks.ts";
