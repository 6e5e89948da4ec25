import { DatabaseSync } from "node:sqlite";

/**
 * Runs `work` while no other process runs work under the same file. SQLite locks it: the lock of a process that was
 * killed is gone with it, which a file that only exists would not be.
 */
export function whileLocked<T>(file: string, timeoutMs: number, work: () => T): T {
  const lock = new DatabaseSync(file, { timeout: timeoutMs });
  try {
    lock.exec("begin exclusive");
    return work();
  } finally {
    lock.close();
  }
}
