// An agent of the Claude Agent SDK whose payments wait for a person. The model is a server on this machine, so it needs no key.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
// #region gate
import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { type ClaudeGate, createGate } from "../../../src/adapters/claude-agent-sdk/index.ts";
import { createEngine } from "../../../src/index.ts";

const engine = await createEngine({ ledger: "sqlite:claude.db" });

const pay = tool(
  "pay",
  "Pays an amount to somebody.",
  { amount: z.number(), to: z.string() },
  async ({ amount, to }) => ({ content: [{ type: "text", text: send(amount, to) }] }),
);

// For each run: your server knows the conversation and the user.
const gateFor = (thread: string): ClaudeGate =>
  createGate({
    engine,
    app: "shop",
    thread,
    // Claude Code's own tools: approval only.
    rules: { Bash: { approvers: { users: ["boss"] }, amendable: ["command"] } },
  });

/** A user's message, or none to go on with a paused run. */
async function run(thread: string, text?: string): Promise<string | undefined> {
  const gate = gateFor(thread);
  const turn = gate.turn(text);
  const gated = gate.tool("shop", pay, {
    requireConfirmation: ({ amount }) => amount > 100,
    hint: ({ amount, to }) => `Pay ${amount} EUR to ${to}?`,
    approvers: { users: ["boss"] },
    amendable: ["amount"],
  });
  const { session } = conversations.get(thread) ?? {};
  let answer: string | undefined;
  for await (const message of query({
    prompt: turn.prompt,
    options: {
      hooks: gate.hooks,
      mcpServers: { shop: createSdkMcpServer({ name: "shop", tools: [gated] }) },
      allowedTools: ["mcp__shop__pay"],
      ...(session === undefined ? {} : { resume: session }),
      ...settings,
    },
  })) {
    turn.see(message);
    if (message.type !== "result" || message.subtype !== "success") continue;
    answer = message.result;
    conversations.set(thread, { session: message.session_id, deferred: turn.deferred });
  }
  return turn.deferred === undefined ? answer : undefined; // undefined: it waits for a person
}
// #endregion

// #region ready
// Once a person has decided, in this process or another, today or next week:
const notices = engine.callers.onReady({ app: "shop" }, async ({ thread }) => {
  const { deferred } = conversations.get(thread) ?? {};
  if (deferred === undefined) return;
  const { ready } = await gateFor(thread).resume(deferred);
  if (ready) resolve(await run(thread));
});
// #endregion

interface Conversation {
  readonly session: string;
  readonly deferred: { readonly id: string } | undefined;
}

const conversations = new Map<string, Conversation>();
const payments: string[] = [];
const { promise: answered, resolve } = Promise.withResolvers<string | undefined>();
const { startModel } = await import("./model.ts");
const model = await startModel({ name: "mcp__shop__pay", input: { amount: 250, to: "Bob" } });
const settings = {
  settingSources: [],
  env: {
    ...process.env,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CONFIG_DIR: `${process.cwd()}/claude`,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  },
};

function send(amount: number, to: string): string {
  payments.push(`${amount} to ${to}`);
  return `Paid ${amount}.`;
}

await notices.started;
const thread = randomUUID();
assert.equal(await run(thread, "Pay Bob 250."), undefined, "it waits");
assert.deepEqual(payments, [], "nothing is paid on the model's word");

const question = (await engine.pending({ app: "shop" })).find(({ session }) => session === thread);
assert.equal(question?.hint, "Pay 250 EUR to Bob?");
await engine.approve(question.id, {
  by: { id: "boss", authenticated: true },
  args: { amount: 200, to: "Bob" },
});
assert.match((await answered) ?? "", /Paid 200[\s\S]*An approver changed the arguments/);
assert.deepEqual(payments, ["200 to Bob"], "it was paid once, with the approver's amount");
await notices.stop();
await model.close();
await engine.close();
