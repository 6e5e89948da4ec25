/**
 * Standbys of the ledger's server, for lists. Decided here: whether a server is a standby of this ledger, and how old what
 * it says may be.
 */
export { listPostgresStandbys, type StandbyState } from "./inspect.ts";
export { type OpenStandbys, openLedgerStandbys } from "./standbys.ts";
