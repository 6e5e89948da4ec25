// An assistant that pays out money: small amounts at once, larger ones after approval.
import assert from "node:assert/strict";

const payments = new Map<string, number>();

// #region agent
import { z } from "zod";
import { Agent, Runner, tool } from "../src/index.ts";

const reimburse = tool({
  name: "reimburse",
  description: "Reimburse an amount.",
  parameters: z.object({ amount: z.number() }),
  requireConfirmation: ({ amount }) => amount > 1000,
  confirmationHint: ({ amount }) => `Pay out $${amount}?`,
  execute: ({ amount }, ctx) => pay(amount, ctx.idempotencyKey),
});
const agent = new Agent({ name: "finance", model: financeModel(), tools: [reimburse] });
const runner = new Runner({ agent, ledger: "sqlite:finance.db" });

const turn = await runner.send("Reimburse me $2500", { user: "ana" });
for (const { id, hint } of turn.pending) {
  console.log(turn.status, hint); // paused Pay out $2500?
  const { finished } = await runner.approve(id, { by: { id: "boss@corp" } }); // committed, and on disk
  console.log((await finished).text); // $2500 are on their way.
}
// #endregion

function pay(amount: number, idempotencyKey: string): { readonly paid: number } {
  payments.set(idempotencyKey, amount);
  return { paid: amount };
}

// #region model
import { scripted } from "../src/models/scripted/index.ts";

/** A scripted model: calls the tool, and says what the result was. */
function financeModel() {
  return scripted(({ contents }) => {
    const [part] = contents.at(-1)?.parts ?? [];
    if (part?.functionResponse !== undefined) {
      const { paid, error } = part.functionResponse.response;
      return typeof paid === "number" ? `$${paid} are on their way.` : `Not paid: ${JSON.stringify(error)}.`;
    }
    const amount = Number(/\d+/.exec(part?.text ?? "")?.[0]);
    return [{ functionCall: { name: "reimburse", args: { amount } } }];
  });
}
// #endregion

assert.equal(turn.status, "paused");
assert.equal(turn.pending.length, 1, "one call waits");
assert.deepEqual([...payments.values()], [2500], "it was paid once, after the approval");

const small = await runner.send("Reimburse me $45", { user: "ana", session: turn.session });
assert.deepEqual([small.status, small.text], ["completed", "$45 are on their way."]);

const large = await runner.send("Reimburse me $9000", { user: "ana", session: turn.session });
// #region deny
for (const { id } of large.pending) {
  const { finished } = await runner.deny(id, { by: { id: "boss@corp" }, reason: "not this month" });
  console.log((await finished).text); // Not paid: "tool call was rejected by the user".
}
// #endregion
assert.deepEqual([...payments.values()], [2500, 45], "what was denied was not paid");
await runner.close();
