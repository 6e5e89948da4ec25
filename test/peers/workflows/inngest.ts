// #region inngest
import { Inngest } from "inngest";
import { refund } from "./refund.ts";

const inngest = new Inngest({ id: "shop" });

export const refundOrder = inngest.createFunction(
  { id: "refund-order", triggers: [{ event: "order/refund" }] },
  async ({ event, step }) => {
    const { order, amount } = event.data as { order: string; amount: number };
    for (let look = 0; ; look++) {
      const ask = () => refund({ amount }, { key: order, by: { id: "orders" } });
      const outcome = await step.run(`refund-${look}`, ask);
      if (!["pending", "executing", "unknown"].includes(outcome.status)) return outcome;
      await step.sleep(`wait-${look}`, "1m");
    }
  },
);
// #endregion
