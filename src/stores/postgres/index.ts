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
