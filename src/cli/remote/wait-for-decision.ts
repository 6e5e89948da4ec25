import { setTimeout as pause } from "node:timers/promises";
import type { CallerOutcome, CallsClient } from "../../client/index.ts";
import { mayPass } from "./persist.ts";

const POLL_SECONDS = 30;
const ANSWER_MS = 10_000;
const PAUSE_MS = 1_000;

/**
 * The call once it is neither pending nor running, or as it is at `until` (on `performance.now()`). A server that is
 * away for a while is asked again: the question is stored.
 */
export async function waitForDecision(
  calls: Pick<CallsClient, "get">,
  first: CallerOutcome,
  until: number,
): Promise<CallerOutcome> {
  let outcome = first;
  while (isOpen(outcome)) {
    const left = until - performance.now();
    if (left <= 0) return outcome;
    const wait = Math.min(POLL_SECONDS, Math.ceil(left / 1_000));
    try {
      const signal = AbortSignal.timeout(wait * 1_000 + ANSWER_MS);
      outcome = await calls.get(first.key, { wait, signal });
    } catch (error) {
      if (!mayPass(error)) throw error;
      await pause(Math.min(PAUSE_MS, left));
    }
  }
  return outcome;
}

function isOpen({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "executing";
}
