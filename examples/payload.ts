// An approval with data: the tool declares a schema for it, and gets it typed and checked.
import assert from "node:assert/strict";
import { z } from "zod";
import { Agent, CountersignError, Runner, tool } from "../src/index.ts";
import { scripted } from "../src/models/scripted/index.ts";

const model = scripted(({ contents }) => {
  const [part] = contents.at(-1)?.parts ?? [];
  const { approvedDays } = part?.functionResponse?.response ?? {};
  if (typeof approvedDays === "number") return `You have ${approvedDays} days.`;
  return [{ functionCall: { name: "request_time_off", args: { days: 5 } } }];
});

// #region payload
const requestTimeOff = tool({
  name: "request_time_off",
  description: "Request days off for the employee.",
  parameters: z.object({ days: z.number() }),
  requireConfirmation: ({ days }) => days > 2,
  confirmationPayload: z.object({ approvedDays: z.number() }),
  execute: ({ days }, ctx) => ({
    approvedDays: Math.min(ctx.toolConfirmation?.payload?.approvedDays ?? days, days),
  }),
});
// #endregion

const agent = new Agent({ name: "hr", model, tools: [requestTimeOff] });
const runner = new Runner({ agent, ledger: "memory:" });
const { pending } = await runner.send("I want 5 days off", { user: "ana" });
const [{ id } = { id: "" }] = pending;

// #region answer
const by = { id: "boss@corp" };
try {
  await runner.approve(id, { by, payload: { approvedDays: "three" } });
} catch (error) {
  if (CountersignError.isInstance(error)) console.log(error.code); // payload-mismatch: refused, and still pending
}
const { finished } = await runner.approve(id, { by, payload: { approvedDays: 3 } });
console.log((await finished).text); // You have 3 days.
// #endregion

await assert.rejects(runner.approve(id, { by, payload: { approvedDays: 4 } }), { code: "already-decided" });
assert.equal((await finished).text, "You have 3 days.");
await runner.close();
