// The gated function that all workflows here call.

// #region gate
import { z } from "zod";
import { createEngine } from "../../../src/index.ts";

export const engine = await createEngine({ ledger });
export const refund = engine.gate(
  "refund",
  {
    parameters: z.object({ amount: z.number() }),
    requireConfirmation: true,
    approvers: { roles: ["finance"] },
  },
  async ({ amount }, { idempotencyKey }) => pay(amount, idempotencyKey),
);
engine.work(); // runs what people approve, in this process

// #endregion

import { ledger, pay } from "./bank.ts";
