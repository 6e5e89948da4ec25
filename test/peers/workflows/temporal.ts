// #region temporal
import { proxyActivities, sleep } from "@temporalio/workflow";
import type * as activities from "./temporal-activities.ts";

const { askRefund } = proxyActivities<typeof activities>({ startToCloseTimeout: "5 minutes" });

export async function refundOrder(order: string, amount: number) {
  for (;;) {
    const outcome = await askRefund(order, amount);
    if (!["pending", "executing", "unknown"].includes(outcome.status)) return outcome;
    await sleep(POLL_MS);
  }
}
// #endregion

const POLL_MS = 60_000;
