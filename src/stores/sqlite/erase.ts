import { rmSync } from "node:fs";
import { filesOf } from "./connection/private-files.ts";

/**
 * Removes a ledger's files. The main one first: while it is there, the ledger is. What is left of an erasure that was
 * interrupted is removed with it.
 */
export function eraseSqliteLedger(path: string): void {
  for (const file of [...filesOf(path), path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
}
