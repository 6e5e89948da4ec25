export { ManualClock } from "./engine/index.ts";
export { type LedgerCase, type LedgerSubject, ledgerContract } from "./engine/ledger.contract.ts";
