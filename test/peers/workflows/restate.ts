// A Restate service. Says where it listens, as a JSON line.

// #region restate
import * as restate from "@restatedev/restate-sdk";
import { refund } from "./refund.ts";

const orders = restate.service({
  name: "orders",
  handlers: {
    refund: async (context: restate.Context, { order, amount }: { order: string; amount: number }) => {
      for (;;) {
        const ask = () => refund({ amount }, { key: order, by: { id: "orders" } });
        const outcome = await context.run("refund", ask);
        if (!["pending", "executing", "unknown"].includes(outcome.status)) return outcome;
        await context.sleep(POLL_MS);
      }
    },
  },
});
const listening = await restate.serve({ services: [orders], port });

// #endregion

import { POLL_MS, port, say } from "./bank.ts";

say({ type: "listening", port: listening });
