import { type Clock, jitter } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";

const ATTEMPTS = 3;
const FIRST_WAIT_MS = 1000;
/** If a provider asks for a longer wait, the error is thrown, with the time in its details. */
const LONGEST_WAIT_MS = 60_000;

/** When to wait, and when to stop waiting. */
export interface Patience {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Tries up to three times while the provider says that it is busy (429, 503), waiting as long as it asks, or one
 * second and then two. Any other failure is thrown at once, and so is the signal's reason when it aborts.
 */
export async function withRetries<T>(attempt: () => Promise<T>, patience: Patience): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      const waitMs = tried < ATTEMPTS ? waitAfter(error, tried) : undefined;
      if (waitMs === undefined) throw error;
      await wait(waitMs, patience);
    }
  }
}

function waitAfter(error: unknown, tried: number): number | undefined {
  if (!CountersignError.isInstance(error)) return undefined;
  const { status, retryAfterMs } = error.details;
  if (status !== 429 && status !== 503) return undefined;
  if (typeof retryAfterMs !== "number") return FIRST_WAIT_MS * 2 ** (tried - 1) + jitter(FIRST_WAIT_MS);
  return retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs : undefined;
}

async function wait(ms: number, { clock, signal }: Patience): Promise<void> {
  await clock.sleep(ms, signal);
  signal.throwIfAborted();
}
