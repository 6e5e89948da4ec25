// An agent of LangChain whose payments wait for a person. The model is scripted, so it needs no key.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
// #region gate
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { createGate } from "../../src/adapters/langchain/index.ts";
import { createEngine } from "../../src/index.ts";

const engine = await createEngine({ ledger: "sqlite:langchain.db" });
const gate = createGate({ engine, app: "shop" });

const pay = tool(async ({ amount, to }) => send(amount, to), {
  name: "pay",
  description: "Pays an amount to somebody.",
  schema: z.object({ amount: z.number(), to: z.string() }),
});

const agent = createAgent({
  model: model(),
  tools: gate.tools([pay], {
    pay: {
      requireConfirmation: ({ amount }) => amount > 100,
      hint: ({ amount, to }) => `Pay ${amount} EUR to ${to}?`,
      approvers: { users: ["boss"] },
      amendable: ["amount"],
    },
  }),
  checkpointer: new MemorySaver(), // in production, one that stores
});
// #endregion

const { promise: answered, resolve: answer } = Promise.withResolvers<string>();

// #region ready
// Once a person has decided, in this process or another, today or next week:
const notices = engine.callers.onReady({ app: "shop" }, async ({ thread }) => {
  const config = { configurable: { thread_id: thread } };
  const resumption = await gate.resume(agent, config);
  if (!resumption.ready) return;
  const { messages } = await agent.invoke(resumption.command, config);
  answer(messages.at(-1)?.text ?? "");
});
// #endregion

const payments: string[] = [];

async function send(amount: number, to: string): Promise<{ paid: number }> {
  payments.push(`${amount} to ${to}`);
  return { paid: amount };
}

/** Wants to pay 250, and then says what came of it. */
function model(): BaseChatModel {
  class Scripted extends BaseChatModel {
    override _llmType(): string {
      return "scripted";
    }

    override bindTools(): this {
      return this;
    }

    override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
      const last = messages.at(-1);
      const call = {
        type: "tool_call",
        id: "call-1",
        name: "pay",
        args: { amount: 250, to: "Bob" },
      } as const;
      const message = ToolMessage.isInstance(last)
        ? new AIMessage(`The tool said: ${last.text}`)
        : new AIMessage({ content: "", tool_calls: [call] });
      return { generations: [{ text: message.text, message }] };
    }
  }
  return new Scripted({});
}

await notices.started;
const config = { configurable: { thread_id: randomUUID() } };
const paused = await agent.invoke({ messages: [{ role: "user", content: "Pay Bob 250." }] }, config);
assert.ok("__interrupt__" in paused, "it waits");

const waiting = await engine.pending({ app: "shop" });
const question = waiting.find(({ session }) => session === config.configurable.thread_id);
assert.equal(question?.hint, "Pay 250 EUR to Bob?");
await engine.approve(question.id, {
  by: { id: "boss", authenticated: true },
  args: { amount: 200, to: "Bob" },
});
assert.match(await answered, /"paid":200/);
assert.deepEqual(payments, ["200 to Bob"], "it was paid once, with the approver's amount");
await notices.stop();
await engine.close();
