import { type Delivery, type DeliveryEnd, jitter } from "../engine/index.ts";
import type { Told } from "./channel.ts";

/** How patient deliveries are. Times are in milliseconds. */
export interface DeliverySettings {
  /** How long one attempt may take. */
  readonly timeoutMs: number;
  /** For how long a process has what it took to send; longer than an attempt. What a killed one had is sent after it. */
  readonly holdMs: number;
  /** Before the second attempt; each further one waits twice as long, up to `longestRetryMs`. */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** Given up after so long, or so many attempts; it can be revived. */
  readonly giveUpAfterMs: number;
  readonly maxAttempts: number;
  /** How many one process sends at once on one channel. */
  readonly concurrency: number;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

export const DEFAULT_DELIVERY_SETTINGS: DeliverySettings = {
  timeoutMs: 15 * SECOND,
  holdMs: 20 * SECOND,
  firstRetryMs: 5 * SECOND,
  longestRetryMs: 4 * HOUR,
  giveUpAfterMs: 72 * HOUR,
  maxAttempts: 50,
  concurrency: 16,
};

const LONGEST_WAIT_MS = 24 * HOUR;

/** What follows from what the channel said. */
export function toEnd(
  told: Told,
  { attempt, since }: Pick<Delivery, "attempt" | "since">,
  { settings, now }: { readonly settings: DeliverySettings; readonly now: number },
): DeliveryEnd {
  if (told.ok) return { as: "delivered" };
  const { reason: error, final, retryAfterMs = 0 } = told;
  const forMs = Math.max(retryDelayMs(attempt, settings), Math.min(retryAfterMs, LONGEST_WAIT_MS));
  const tooLate = now + forMs - since > settings.giveUpAfterMs;
  if (final || tooLate || attempt >= settings.maxAttempts) return { as: "dead", error };
  return { as: "postponed", forMs, error };
}

/** Twice as long each time, and never quite the same: those that failed together do not come back together. */
export function retryDelayMs(
  failures: number,
  { firstRetryMs, longestRetryMs }: Pick<DeliverySettings, "firstRetryMs" | "longestRetryMs">,
): number {
  const whole = Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
  return whole / 2 + jitter(whole / 2);
}
