// An agent of the AI SDK whose payments wait for a person. The model is scripted, so it needs no key.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { LanguageModel } from "ai";
// #region gate
import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";
import { gateTools } from "../../src/adapters/ai-sdk/index.ts";
import { createEngine } from "../../src/index.ts";

const engine = await createEngine({ ledger: "sqlite:shop.db" });

const tools = {
  pay: tool({
    description: "Pays an amount to somebody.",
    inputSchema: z.object({ amount: z.number(), to: z.string() }),
    execute: async ({ amount, to }) => pay(amount, to),
  }),
};

// For each request: your server knows the conversation and the user.
const gateFor = (thread: string) =>
  gateTools({
    engine,
    app: "shop",
    thread,
    tools,
    rules: {
      pay: {
        requireConfirmation: ({ amount }) => amount > 100,
        hint: ({ amount, to }) => `Pay ${amount} EUR to ${to}?`,
        approvers: { users: ["boss"] },
        amendable: ["amount"],
      },
    },
  });

async function answer(thread: string, messages: ModelMessage[]): Promise<ModelMessage[]> {
  const gate = gateFor(thread);
  const { responseMessages } = await generateText({
    model: model(),
    messages,
    tools: gate.tools,
    toolApproval: gate.toolApproval,
    stopWhen: isStepCount(10),
  });
  return [...messages, ...responseMessages];
}
// #endregion

// #region ready
// Once a person has decided, in this process or another, today or next week:
const notices = engine.callers.onReady({ app: "shop" }, async ({ thread }) => {
  const resumption = await gateFor(thread).resume(await load(thread));
  if (resumption.ready) await save(thread, await answer(thread, resumption.messages));
});
// #endregion

const payments: string[] = [];
const conversations = new Map<string, ModelMessage[]>();
const { promise: answered, resolve } = Promise.withResolvers<void>();

async function pay(amount: number, to: string): Promise<{ paid: number }> {
  payments.push(`${amount} to ${to}`);
  return { paid: amount };
}

async function load(thread: string): Promise<ModelMessage[]> {
  return conversations.get(thread) ?? [];
}

async function save(thread: string, messages: ModelMessage[]): Promise<void> {
  conversations.set(thread, messages);
  resolve();
}

/** Wants to pay 250, and then says what came of it. */
function model(): LanguageModel {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      const input = JSON.stringify({ amount: 250, to: "Bob" });
      if (last?.role === "user")
        return {
          content: [{ type: "tool-call", toolCallId: "call-1", toolName: "pay", input }],
          finishReason: { unified: "tool-calls", raw: undefined },
          usage,
          warnings: [],
        };
      const text = `The tool said: ${JSON.stringify(last?.content)}`;
      return {
        content: [{ type: "text", text }],
        finishReason: { unified: "stop", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}

await notices.started;
const thread = randomUUID();
conversations.set(thread, await answer(thread, [{ role: "user", content: "Pay Bob 250." }]));
assert.deepEqual(payments, [], "nothing is paid on the model's word");

const question = (await engine.pending({ app: "shop" })).find(({ session }) => session === thread);
assert.equal(question?.hint, "Pay 250 EUR to Bob?");
await engine.approve(question.id, {
  by: { id: "boss", authenticated: true },
  args: { amount: 200, to: "Bob" },
});
await answered;
assert.deepEqual(payments, ["200 to Bob"], "it was paid once, with the approver's amount");
assert.match(JSON.stringify(conversations.get(thread)?.at(-1)), /An approver changed the arguments/);
await notices.stop();
await engine.close();
