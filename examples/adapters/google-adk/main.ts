// An agent of Google's ADK whose payments wait for a person. The model is scripted, so it needs no key.
// Run it in a project of its own: npm install countersign @google/adk zod
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
// #region gate
import {
  BaseLlm,
  type BaseLlmConnection,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  Runner,
  type Session,
} from "@google/adk";
import { z } from "zod";
import { createGate } from "../../../src/adapters/google-adk/index.ts";
import { createEngine } from "../../../src/index.ts";

const engine = await createEngine({ ledger: "sqlite:adk.db" });
const gate = createGate({
  engine,
  app: "shop",
  identify: ({ userId, id }) => ({ thread: `${userId}/${id}`, user: userId }),
});

const payment = z.object({ amount: z.number(), to: z.string() });
type Payment = z.infer<typeof payment>;
const pay = new FunctionTool({
  name: "pay",
  description: "Pays an amount to somebody.",
  parameters: payment,
  execute: ({ amount, to }) => send(amount, to),
});

const agent = new LlmAgent({
  name: "cashier",
  model: model(),
  // All tools of the agent; those with a rule are gated.
  tools: gate.tools([pay], {
    pay: {
      requireConfirmation: ({ amount }: Payment) => amount > 100,
      hint: ({ amount, to }: Payment) => `Pay ${amount} EUR to ${to}?`,
      approvers: { users: ["boss"] },
      amendable: ["amount"],
    },
  }),
});
// In production one that stores: DatabaseSessionService, for instance.
const sessionService = new InMemorySessionService();
const runner = new Runner({ appName: "shop", agent, sessionService });
// #endregion

// #region ready
// Once a person has decided, in this process or another, today or next week:
const notices = engine.callers.onReady({ app: "shop" }, async ({ thread }) => {
  const session = await load(thread);
  const resumption = await gate.resume(session);
  if (resumption.ready) await run(session, resumption.newMessage);
});
// #endregion

const payments: string[] = [];
const { promise: answered, resolve } = Promise.withResolvers<string>();

function send(amount: number, to: string): { paid: number } {
  payments.push(`${amount} to ${to}`);
  return { paid: amount };
}

async function load(thread: string): Promise<Session> {
  const [userId = "", sessionId = ""] = thread.split("/");
  const session = await sessionService.getSession({ appName: "shop", userId, sessionId });
  if (session === undefined) throw new Error(`There is no session ${thread}.`);
  return session;
}

type Message = Parameters<Runner["runAsync"]>[0]["newMessage"];

async function run({ userId, id: sessionId }: Session, newMessage: Message): Promise<void> {
  for await (const { content } of runner.runAsync({ userId, sessionId, newMessage })) {
    const text = content?.parts?.at(-1)?.text;
    if (text !== undefined) resolve(text);
  }
}

/** Wants to pay 250, and then says what came of it. */
function model(): BaseLlm {
  return new (class extends BaseLlm {
    override async *generateContentAsync({ contents }: LlmRequest): AsyncGenerator<LlmResponse, void> {
      const answer = contents.at(-1)?.parts?.at(-1)?.functionResponse;
      const call = { id: "call-1", name: "pay", args: { amount: 250, to: "Bob" } };
      const part =
        answer === undefined
          ? { functionCall: call }
          : { text: `The tool said: ${JSON.stringify(answer.response)}` };
      yield { content: { role: "model", parts: [part] } };
    }

    override connect(): Promise<BaseLlmConnection> {
      throw new Error("It does not stream.");
    }
  })({ model: "scripted" });
}

await notices.started;
const session = await sessionService.createSession({
  appName: "shop",
  userId: "ana",
  sessionId: randomUUID(),
});
await run(session, { role: "user", parts: [{ text: "Pay Bob 250." }] });
assert.deepEqual(payments, [], "nothing is paid on the model's word");

const question = (await engine.pending({ app: "shop" })).find((each) => each.session === `ana/${session.id}`);
assert.equal(question?.hint, "Pay 250 EUR to Bob?");
await engine.approve(question.id, {
  by: { id: "boss", authenticated: true },
  args: { amount: 200, to: "Bob" },
});
assert.match(await answered, /An approver changed the arguments/);
assert.deepEqual(payments, ["200 to Bob"], "it was paid once, with the approver's amount");
await notices.stop();
await engine.close();
