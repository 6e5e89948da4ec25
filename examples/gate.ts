// A function that pays out money, behind the gate. Run it twice: the second time nothing is paid again.
import assert from "node:assert/strict";

const payments: string[] = [];

// #region gate
import { z } from "zod";
import { createEngine } from "../src/index.ts";

const engine = await createEngine({ ledger: "sqlite:refunds.db" });
const refund = engine.gate(
  "refund",
  { parameters: z.object({ amount: z.number() }), requireConfirmation: ({ amount }) => amount > 1000 },
  async ({ amount }, { idempotencyKey }) => pay(amount, idempotencyKey),
);

const outcome = await refund({ amount: 2500 }, { key: "order-17", by: { id: "ana" } });
if (outcome.status === "pending") {
  const decided = await engine.approve(outcome.confirmation.id, { by: { id: "boss@corp" } });
  if (decided.ok) console.log((await decided.finished).result); // { paid: 2500 }
}
// #endregion

async function pay(amount: number, idempotencyKey: string): Promise<{ paid: number }> {
  payments.push(idempotencyKey);
  return { paid: amount };
}

const again = await refund({ amount: 2500 }, { key: "order-17", by: { id: "ana" } });
assert.deepEqual(again, { status: "succeeded", result: { paid: 2500 } });
assert.ok(payments.length <= 1, "it was paid once, in this run or in an earlier one");

const small = await refund({ amount: 45 }, { key: "order-18", by: { id: "ana" } });
assert.equal(small.status, "succeeded", "small amounts need nobody");
await engine.close();
