/**
 * A ledger on PostgreSQL. Decided here: how a store's operations become statements; which of them wait for the disk; and how
 * processes learn of each other's changes. `commits`, `connection`, `schema` and `standby` have their own headers.
 */

export type { LedgerStats } from "../../engine/index.ts";
export { readPostgresContent } from "./content.ts";
export { erasePostgresLedger } from "./erase.ts";
export { inspectPostgresLedger } from "./inspect.ts";
export {
  type Migrated,
  migratePostgres,
  openPostgresLedger,
  type PostgresOptions,
  planPostgresMigration,
} from "./open.ts";
export { listPostgresRisks, type Risk } from "./risks.ts";
export { listPostgresStandbys, type StandbyState } from "./standby/index.ts";
