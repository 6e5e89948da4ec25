import { jitter } from "../common/index.ts";
import type { Delivery, DeliveryEnd } from "../journal/index.ts";

/** Whether the recipients got it. A failure is retried, not before `retryAfterMs`, unless it is `final`. */
export type Told =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** For the operator; must not contain a secret. */
      readonly reason: string;
      readonly retryAfterMs?: number;
      readonly final?: true;
      /** It says nothing about other messages of the channel, so those do not wait for it. */
      readonly isolated?: true;
      /** It is not to be sent before `retryAfterMs`. That is no failure. */
      readonly isHeld?: true;
    };

/** Settings of deliveries. Times are in milliseconds. */
export interface DeliverySettings {
  /** How long one attempt may take. */
  readonly timeoutMs: number;
  /**
   * How long a process holds a message that it is sending. After that another process sends it. A hold that is shorter
   * than an attempt may take is renewed meanwhile.
   */
  readonly holdMs: number;
  /** Before the second attempt; each further one waits twice as long, up to `longestRetryMs`. */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** After this time, or this many attempts, the delivery has failed; it can be retried. */
  readonly giveUpAfterMs: number;
  readonly maxAttempts: number;
  /** How many one process sends at once on one channel. */
  readonly concurrency: number;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** The delivery settings that apply if none are given. */
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

/** What to do after an attempt. */
export function toEnd(
  told: Told,
  { attempt, holds = 0, since }: Pick<Delivery, "attempt" | "holds" | "since">,
  { settings, now }: { readonly settings: DeliverySettings; readonly now: number },
): DeliveryEnd {
  if (told.ok) return { as: "delivered" };
  const { reason: error, final, retryAfterMs = 0, isHeld } = told;
  if (isHeld) return { as: "postponed", forMs: retryAfterMs, error, isHold: true };
  const failures = attempt - holds;
  const forMs = Math.max(retryDelayMs(failures, settings), Math.min(retryAfterMs, LONGEST_WAIT_MS));
  const tooLate = now + forMs - since > settings.giveUpAfterMs;
  if (final || tooLate || failures >= settings.maxAttempts) return { as: "dead", error };
  return { as: "postponed", forMs, error };
}

/** Twice as long each time, with jitter, so that messages that failed together are not retried together. */
export function retryDelayMs(
  failures: number,
  { firstRetryMs, longestRetryMs }: Pick<DeliverySettings, "firstRetryMs" | "longestRetryMs">,
): number {
  const whole = Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
  return whole / 2 + jitter(whole / 2);
}
