import type { AppOptions } from "../../http/index.ts";
import { Backtest, parsePolicy } from "../../policy/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { pastCalls } from "./past-calls.ts";

const DAY_MS = 86_400_000;
/** A request is answered while somebody waits for it. The newest calls count. */
const MOST_CALLS = 20_000;

/** Judges past calls by another policy, for a person who waits for the answer: only the newest calls, up to a limit. */
export function replayAtMost(most: number): NonNullable<AppOptions["replay"]> {
  return async (ledger, { policy, days, signal }) => {
    const backtest = new Backtest(readPolicy(policy));
    const since = ledger.now - days * DAY_MS;
    let calls = 0;
    let from = since;
    for await (const { call, ...past } of pastCalls(ledger, { since, signal })) {
      calls += 1;
      if (calls > most) break;
      backtest.add({ ...past, call });
      from = call.at;
    }
    const complete = calls <= most;
    return { ...backtest.report(), complete, judgedFrom: new Date(complete ? since : from).toISOString() };
  };
}

export const replayPolicy: NonNullable<AppOptions["replay"]> = replayAtMost(MOST_CALLS);

function readPolicy(text: string): ReturnType<typeof parsePolicy> {
  try {
    return parsePolicy("policy.yaml", text);
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    throw new CountersignError("malformed-request", error.message, { details: { field: "policy" } });
  }
}
