// An agent of the OpenAI Agents SDK whose payments wait for a person. The model is scripted, so it needs no key.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
// #region gate
import { Agent, type Model, type ModelRequest, Runner, RunState, Usage } from "@openai/agents";
import { z } from "zod";
import { createGate } from "../../src/adapters/openai-agents/index.ts";
import { createEngine } from "../../src/index.ts";

const engine = await createEngine({ ledger: "sqlite:agents.db" });

interface Context {
  readonly chat: string;
  readonly message: string;
}
const gate = createGate<Context>({
  engine,
  app: "shop",
  identify: ({ chat, message }) => ({ thread: chat, turn: message }),
});

const pay = gate.tool(
  {
    name: "pay",
    description: "Pays an amount to somebody.",
    parameters: z.object({ amount: z.number(), to: z.string() }),
    execute: async ({ amount, to }) => send(amount, to),
  },
  {
    requireConfirmation: ({ amount }) => amount > 100,
    hint: ({ amount, to }) => `Pay ${amount} EUR to ${to}?`,
    approvers: { users: ["boss"] },
  },
);
const agent = new Agent<Context>({ name: "cashier", model: model(), tools: [pay] });
const runner = new Runner({ tracingDisabled: true });
// #endregion

// #region resume
/** Goes on with a stored run, once every question is answered. */
async function resume(stored: string): Promise<string | undefined> {
  const state = await RunState.fromString<Context, typeof agent>(agent, stored);
  const { ready } = await gate.resume(state);
  return ready ? (await runner.run(agent, state)).finalOutput : undefined;
}
// #endregion

const payments: string[] = [];

async function send(amount: number, to: string): Promise<{ paid: number }> {
  payments.push(`${amount} to ${to}`);
  return { paid: amount };
}

/** Wants to pay 250, and then says what came of it. */
function model(): Model {
  return {
    getResponse: async ({ input }: ModelRequest) => {
      const last = typeof input === "string" ? undefined : input.at(-1);
      if (last?.type === "function_call_result") {
        const text = `The tool said: ${JSON.stringify(last.output)}`;
        return {
          usage: new Usage(),
          output: [
            {
              type: "message",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text }],
            },
          ],
        };
      }
      const call = { type: "function_call", callId: "call-1", name: "pay", status: "completed" } as const;
      return {
        usage: new Usage(),
        output: [{ ...call, arguments: JSON.stringify({ amount: 250, to: "Bob" }) }],
      };
    },
    getStreamedResponse: () => {
      throw new Error("It does not stream.");
    },
  };
}

const context = { chat: randomUUID(), message: "m1" };
const paused = await runner.run(agent, "Pay Bob 250.", { context });
const stored = paused.state.toString();
assert.equal(paused.interruptions.length, 1);
assert.equal(await resume(stored), undefined, "it waits");

const question = (await engine.pending({ app: "shop" })).find(({ session }) => session === context.chat);
assert.equal(question?.hint, "Pay 250 EUR to Bob?");
await engine.approve(question.id, { by: { id: "boss", authenticated: true } });
assert.match((await resume(stored)) ?? "", /paid/);
assert.match((await resume(stored)) ?? "", /paid/);
assert.deepEqual(payments, ["250 to Bob"], "it was paid once, however often the run is resumed");
await engine.close();
