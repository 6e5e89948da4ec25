// An agent of Mastra whose payments wait for a person. The model is scripted, so it needs no key.
// Run it in a project of its own: npm install countersign @mastra/core zod
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
// #region gate
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { createGate } from "../../../src/adapters/mastra/index.ts";
import { createEngine } from "../../../src/index.ts";

const engine = await createEngine({ ledger: "sqlite:mastra.db" });
const gate = createGate({
  engine,
  app: "shop",
  identify: ({ threadId, resourceId }) => ({ thread: threadId, user: resourceId ?? "nobody" }),
});

const pay = createTool({
  id: "pay",
  description: "Pays an amount to somebody.",
  inputSchema: z.object({ amount: z.number(), to: z.string() }),
  execute: async ({ amount, to }) => send(amount, to),
});

const agent = new Agent({
  id: "cashier",
  name: "cashier",
  instructions: "Pay what the user asks for.",
  model: model(),
  tools: gate.tools(
    { pay },
    {
      pay: {
        requireConfirmation: ({ amount }) => amount > 100,
        hint: ({ amount, to }) => `Pay ${amount} EUR to ${to}?`,
        approvers: { users: ["boss"] },
        amendable: ["amount"],
      },
    },
  ),
});
// In production a storage that stores: @mastra/pg or @mastra/libsql, for instance.
new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
// #endregion

// #region ready
// Once a person has decided, in this process or another, today or next week:
const notices = engine.callers.onReady({ app: "shop" }, async ({ thread }) => {
  const { runs } = await agent.listSuspendedRuns({ threadId: thread });
  for (const run of runs) {
    const resumption = await gate.resume(run);
    if (!resumption.ready) continue;
    const { text } = await agent.resumeGenerate(resumption.resumeData, { runId: run.runId });
    await deliver(thread, text);
  }
});
// #endregion

const payments: string[] = [];
const { promise: answered, resolve } = Promise.withResolvers<string>();

async function send(amount: number, to: string): Promise<{ paid: number }> {
  payments.push(`${amount} to ${to}`);
  return { paid: amount };
}

async function deliver(_thread: string, text: string): Promise<void> {
  resolve(text);
}

/** Wants to pay 250, and then says what came of it. */
function model(): ConstructorParameters<typeof Agent>[0]["model"] {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const call = { toolCallId: "call-1", toolName: "pay", input: JSON.stringify({ amount: 250, to: "Bob" }) };
  return {
    specificationVersion: "v2",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      if (last?.role === "user")
        return {
          content: [{ type: "tool-call", ...call }],
          finishReason: "tool-calls",
          usage,
          warnings: [],
        };
      const text = `The tool said: ${JSON.stringify(last?.content)}`;
      return { content: [{ type: "text", text }], finishReason: "stop", usage, warnings: [] };
    },
    doStream: () => {
      throw new Error("It does not stream.");
    },
  };
}

await notices.started;
const thread = randomUUID();
const { finishReason } = await agent.generate("Pay Bob 250.", { memory: { thread, resource: "ana" } });
assert.equal(finishReason, "suspended");
assert.deepEqual(payments, [], "nothing is paid on the model's word");

const question = (await engine.pending({ app: "shop" })).find(({ session }) => session === thread);
assert.equal(question?.hint, "Pay 250 EUR to Bob?");
await engine.approve(question.id, {
  by: { id: "boss", authenticated: true },
  args: { amount: 200, to: "Bob" },
});
assert.match(await answered, /An approver changed the arguments/);
assert.deepEqual(payments, ["200 to Bob"], "it was paid once, with the approver's amount");
await notices.stop();
await engine.close();
