import { CountersignError, type ErrorCode } from "../../protocol/index.ts";
import type { EngineParts } from "../parts.ts";

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 5_000;
/** What passes: the ledger is not to be had at this moment. */
const PASSING: ReadonlySet<ErrorCode> = new Set(["ledger-busy", "ledger-unreachable"]);

/** What is to be stored, and how hard it is tried. */
export interface Storing<T> {
  /** For the log, as in "Cannot …": "store the outcome of call 7". */
  readonly what: string;
  readonly store: () => Promise<T>;
  /** Tried beside it, once it is late. */
  readonly whenLate?: () => Promise<unknown>;
  /** Stop after this many refusals by a ledger that answers: it seems to refuse the content. Default: no limit. */
  readonly mostRefusals?: number;
  /** Stop trying after this time, if a caller waits that can do something else. Default: no limit. */
  readonly limitMs?: number;
}

/**
 * For what is in this process's memory and nowhere else: it is offered to the ledger until the ledger has it. From
 * `storeWithinMs` on the process says so in its log, and is not ready. Undefined only if the ledger was closed meanwhile,
 * or closing waited long enough; then recovery finds what is missing. Throws only after `mostRefusals` or `limitMs`.
 */
export async function retryUntilStored<T>(
  parts: Pick<EngineParts, "clock" | "settings" | "unstored" | "gaveUp">,
  {
    what,
    store,
    whenLate,
    mostRefusals = Number.POSITIVE_INFINITY,
    limitMs = Number.POSITIVE_INFINITY,
  }: Storing<T>,
): Promise<T | undefined> {
  const { clock, settings, unstored, gaveUp } = parts;
  const startedAt = clock.monotonic();
  let refusals = 0;
  let stored: (() => void) | undefined;
  try {
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      try {
        return await store();
      } catch (error) {
        const kind = kindOf(error);
        if (kind === "closed") return undefined;
        refusals += Number(kind === "refused");
        const passedMs = clock.monotonic() - startedAt;
        if (Math.max(refusals / mostRefusals, passedMs / limitMs) >= 1) throw error;
        if (passedMs >= settings.storeWithinMs) {
          stored ??= unstored.add(what, error);
          await whenLate?.().catch(() => {});
        }
        if (gaveUp.aborted) return undefined;
        await clock.sleep(waitMs, gaveUp);
      }
    }
  } finally {
    stored?.();
  }
}

/** Is the ledger unavailable at this moment? Then nothing is wrong with the request itself. */
export function isLedgerAway(error: unknown): boolean {
  return CountersignError.isInstance(error) && PASSING.has(error.code);
}

function kindOf(error: unknown): "closed" | "passing" | "refused" {
  if (!CountersignError.isInstance(error)) return "refused";
  if (error.code === "closed") return "closed";
  return isLedgerAway(error) ? "passing" : "refused";
}
