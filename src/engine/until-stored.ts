import { CountersignError, type ErrorCode } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 5_000;
/** What passes: the ledger is not to be had at this moment. */
const PASSING: ReadonlySet<ErrorCode> = new Set(["ledger-busy", "ledger-unreachable"]);

/**
 * For what is in this process's memory and nowhere else: it is offered to the ledger until the ledger has it.
 * Undefined only if the ledger was closed meanwhile; then recovery finds what is missing. Throws only after
 * `mostRefusals`, where given, by which the ledger was there and seemed to refuse it for what it is.
 */
export async function untilStored<T>(
  clock: Clock,
  store: () => Promise<T>,
  mostRefusals: number = Number.POSITIVE_INFINITY,
): Promise<T | undefined> {
  let refusals = 0;
  for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
    try {
      return await store();
    } catch (error) {
      const code = CountersignError.isInstance(error) ? error.code : undefined;
      if (code === "closed") return undefined;
      if (code === undefined || !PASSING.has(code)) refusals += 1;
      if (refusals >= mostRefusals) throw error;
      await clock.sleep(waitMs);
    }
  }
}
