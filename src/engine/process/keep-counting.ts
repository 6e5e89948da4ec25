import type { Clock } from "../common/index.ts";
import type { Ledger } from "../ledger/index.ts";
import { countJournal } from "../statistics/index.ts";

const COUNT_MS = 30_000;
// Counting is never urgent: after each batch, other work of the ledger comes first.
const BREATH_MS = 20;

/**
 * Counts the journal for the statistics from time to time, one batch after the other, until the signal aborts. Nothing
 * waits for it: a long journal takes as long as it takes.
 */
export async function keepCounting(
  parts: {
    readonly ledger: Ledger;
    readonly clock: Clock;
    readonly onError: (error: unknown) => void;
  },
  stop: AbortSignal,
): Promise<void> {
  const { ledger, clock, onError } = parts;
  for (let pauseMs = COUNT_MS; ; ) {
    await clock.sleepInBackground(pauseMs, stop);
    if (stop.aborted) return;
    try {
      const { behind } = await countJournal(ledger, 1);
      pauseMs = behind ? BREATH_MS : COUNT_MS;
    } catch (error) {
      onError(error);
      pauseMs = COUNT_MS;
    }
  }
}
