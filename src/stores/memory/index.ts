/**
 * A ledger in memory, for tests and trials. Decided here: what is kept on the heap as it is, and what is stored compactly. It is
 * lost with the process.
 */

export { MemoryStore } from "./memory-store.ts";
