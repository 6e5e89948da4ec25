// A function that does something, asks a question, and continues. The work before the question is not repeated.
import assert from "node:assert/strict";
import { ConfirmationRejected, createEngine, type JsonObject } from "../src/index.ts";

const engine = await createEngine({ ledger: "memory:" });
const done: string[] = [];
let entered = 0;
const schema: JsonObject = {
  type: "object",
  properties: { days: { type: "integer", minimum: 1 } },
  required: ["days"],
};

// #region steps
const leave = engine.gate("leave", {}, async ({ days }: { days: number }, ctx) => {
  entered += 1;
  const ticket = await ctx.step("open ticket", async () => openTicket(days));
  try {
    const { payload } = await ctx.confirm("manager", { hint: `Grant ${days} days off?`, schema });
    return { ticket, granted: payload ?? null };
  } catch (error) {
    if (error instanceof ConfirmationRejected) return { ticket, granted: null, because: error.status };
    throw error;
  }
});
// #endregion

async function openTicket(days: number): Promise<string> {
  done.push(`ticket for ${days}`);
  return `T-${done.length}`;
}

const asked = await leave({ days: 5 }, { key: "ana-july", by: { id: "ana" } });
assert.equal(asked.status, "pending");
if (asked.status !== "pending") throw new Error("it should ask");
console.log(asked.confirmation.hint); // Grant 5 days off?

await assert.rejects(
  engine.approve(asked.confirmation.id, { by: { id: "boss@corp" } }),
  { code: "payload-mismatch" },
  "the question wants a number, and stays open",
);

const decided = await engine.approve(asked.confirmation.id, {
  by: { id: "boss@corp" },
  payload: { days: 3 },
});
const { result } = await decided.finished;
console.log(result); // { ticket: "T-1", granted: { days: 3 } }
assert.deepEqual(result, { ticket: "T-1", granted: { days: 3 } });
assert.deepEqual(done, ["ticket for 5"], "the step ran once");
assert.equal(entered, 2, "the body was entered twice");
await engine.close();
