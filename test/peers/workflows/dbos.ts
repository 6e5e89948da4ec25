// A DBOS worker. Says what became of the order, as a JSON line.

// #region dbos
import { DBOS } from "@dbos-inc/dbos-sdk";
import { refund } from "./refund.ts";

const refundOrder = DBOS.registerWorkflow(
  async (order: string, amount: number) => {
    for (;;) {
      const ask = () => refund({ amount }, { key: order, by: { id: "orders" } });
      const outcome = await DBOS.runStep(ask, { name: "refund" });
      if (!["pending", "executing", "unknown"].includes(outcome.status)) return outcome;
      await DBOS.sleep(POLL_MS); // durable: a minute or an hour, as you like
    }
  },
  { name: "refundOrder" },
);

DBOS.setConfig({ name: "shop", systemDatabaseUrl: url });
await DBOS.launch(); // continues what was interrupted
const workflow = await DBOS.startWorkflow(refundOrder, { workflowID: "order-17" })("order-17", 40);

// #endregion

import { POLL_MS, say, url } from "./bank.ts";

say({ type: "started" });
say({ type: "ended", outcome: await workflow.getResult() });
