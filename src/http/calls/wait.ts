import type { CallerOutcome, CallerStatus, Ledger } from "../../engine/index.ts";
import type { Waiting } from "../../runtime/index.ts";

/** A busy ledger changes all the time; each look reads. */
const BREATH_MS = 50;

/** Statuses that will change without the caller. */
const OPEN: ReadonlySet<CallerStatus> = new Set(["pending", "executing"]);

/** Reads the call until it is decided and not running, or the time is up, or the client is gone. */
export async function untilDecided(
  ledger: Pick<Ledger, "onChange">,
  read: () => Promise<CallerOutcome>,
  {
    seconds,
    signal,
    waiting,
  }: { readonly seconds: number; readonly signal: AbortSignal; readonly waiting: Waiting },
): Promise<CallerOutcome> {
  const over = AbortSignal.any([AbortSignal.timeout(seconds * 1_000), signal]);
  const { promise: gaveUp, resolve: giveUp } = Promise.withResolvers<void>();
  over.addEventListener("abort", () => giveUp(), { once: true });
  for (;;) {
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    // Subscribes before it reads, so that no change in between is missed.
    const forget = ledger.onChange(resolve);
    try {
      const outcome = await read();
      if (over.aborted || !OPEN.has(outcome.status)) return outcome;
      await Promise.race([changed, gaveUp]);
      await Promise.race([waiting.pause(BREATH_MS), gaveUp]);
    } finally {
      forget();
    }
  }
}
