import { setImmediate as turn } from "node:timers/promises";
import type { AppOptions } from "../../http/index.ts";
import { Backtest, parsePolicy } from "../../policy/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { pastCalls } from "./past-calls.ts";

const DAY_MS = 86_400_000;
/** A request is answered while somebody waits for it. */
const MOST_CALLS = 20_000;
const AT_ONCE = 50;

/** Judges past calls by another policy, for a person who waits for the answer. */
export const replayPolicy: NonNullable<AppOptions["replay"]> = async (ledger, { policy, days, signal }) => {
  const backtest = new Backtest(readPolicy(policy));
  let calls = 0;
  let complete = true;
  for await (const past of pastCalls(ledger, ledger.now - days * DAY_MS)) {
    complete = calls < MOST_CALLS && !signal.aborted;
    if (!complete) break;
    backtest.add(past);
    calls += 1;
    // Other requests get their turn.
    if (calls % AT_ONCE === 0) await turn();
  }
  return { ...backtest.report(), complete };
};

function readPolicy(text: string): ReturnType<typeof parsePolicy> {
  try {
    return parsePolicy("policy.yaml", text);
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    throw new CountersignError("malformed-request", error.message, { details: { field: "policy" } });
  }
}
