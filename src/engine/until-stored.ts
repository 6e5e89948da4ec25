import { CountersignError } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 5_000;

/**
 * For what is in this process's memory and nowhere else: it is offered to the ledger until the ledger has it.
 * Undefined only if the ledger was closed meanwhile; then recovery finds what is missing.
 */
export async function untilStored<T>(clock: Clock, store: () => Promise<T>): Promise<T | undefined> {
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
    try {
      return await store();
    } catch (error) {
      if (CountersignError.isInstance(error) && error.code === "closed") return undefined;
      await clock.sleep(waitMs);
    }
  }
}
