import { afterEach, expect, test } from "vitest";
import { OutcomeUnknown, partsOf } from "../../engine/index.ts";
import { scripted } from "../../models/scripted/index.ts";
import { createLedger } from "../../stores/index.ts";
import { Agent } from "../agents/agent.ts";
import { Runner } from "../runner.ts";
import { tool } from "../tools/tool.ts";

let runner: Runner;

afterEach(async () => {
  await runner.close();
});

test("a turn with an unknown call is paused, names the call, and continues once it is settled", async () => {
  const model = scripted(({ contents }) => {
    const answer = contents.at(-1)?.parts.find(({ functionResponse }) => functionResponse)?.functionResponse;
    return answer === undefined
      ? [{ functionCall: { name: "pay", args: {} } }]
      : `It said ${JSON.stringify(answer.response)}.`;
  });
  const pay = tool({
    name: "pay",
    description: "Pays.",
    requireConfirmation: true,
    execute: () => {
      throw new OutcomeUnknown("the line went dead");
    },
  });
  const agent = new Agent({ name: "finance", model, tools: [pay] });
  runner = new Runner({ agent, ledger: await createLedger("memory:"), models: () => model });
  const { pending } = await runner.send("pay", { user: "ana" });
  const id = pending[0]?.id ?? "";
  const turn = await (await runner.approve(id, { by: { id: "ana" } })).finished;
  expect(turn).toMatchObject({ status: "paused", pending: [], unknown: [{ tool: "pay", confirmation: id }] });
  const settled = await runner.settle(id, { as: "succeeded", result: { paid: true } }, { by: { id: "ana" } });
  expect(settled).toMatchObject({ status: "succeeded", result: { paid: true } });
  const engine = await runner.engine();
  await partsOf(engine).executions.settledIn(turn.invocation);
  const session = await runner.sessionService.getSession({ userId: "ana", sessionId: turn.session });
  expect(session?.events.at(-1)?.content?.parts[0]?.text).toBe('It said {"paid":true}.');
});

test("a decision whose end nobody waits for does not bring the process down when the Runner is closed", async () => {
  const model = scripted(() => [{ functionCall: { name: "pay", args: {} } }]);
  const { promise, resolve } = Promise.withResolvers<string>();
  const pay = tool({ name: "pay", description: "Pays.", requireConfirmation: true, execute: () => promise });
  const agent = new Agent({ name: "finance", model, tools: [pay] });
  runner = new Runner({
    agent,
    ledger: await createLedger("memory:"),
    models: () => model,
    maxModelCalls: 1,
  });
  const { pending } = await runner.send("pay", { user: "ana" });
  const { finished } = await runner.approve(pending[0]?.id ?? "", { by: { id: "ana" } });
  const closing = runner.close();
  resolve("paid");
  await closing;
  expect(await Promise.allSettled([finished])).toHaveLength(1);
});
