// What langchainjs's hitl.test.ts and perActionHitl.test.ts assert, with gated tools: written anew, as the package has no tests in it.
// With gated tools each call has an interrupt of its own, and an answer names its question.
import { ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { createGate, type LangChainGate, type Pause } from "../../../src/adapters/langchain/index.ts";
import { Engine } from "../../../src/engine/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { createLedger } from "../../../src/stores/index.ts";
import { type ScriptedCall, ScriptedChatModel } from "../subjects/langchain-model.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const CONFIG = { configurable: { thread_id: "t1" } };
const EVERY = { add: true, write: { amendable: true } } as const;

let engine: Engine;
let gate: LangChainGate;
let ran: JsonObject[];

beforeEach(async () => {
  ran = [];
  engine = new Engine({ ledger: await createLedger("memory:") });
  gate = createGate({ engine, app: "shop" });
});

afterEach(() => engine.close());

const add = tool(
  ({ a, b }: { readonly a: number; readonly b: number }) => {
    ran.push({ a, b });
    return `${a + b}`;
  },
  { name: "add", description: "Adds.", schema: z.object({ a: z.number(), b: z.number() }) },
);
const write = tool(
  ({ file, text }: { readonly file: string; readonly text: string }) => {
    ran.push({ file, text });
    return `wrote ${file}`;
  },
  { name: "write", description: "Writes.", schema: z.object({ file: z.string(), text: z.string() }) },
);

function adding(id: string, a: number): ScriptedCall {
  return { id, tool: "add", args: { a, b: 1 } };
}

function writing(id: string, file: string): ScriptedCall {
  return { id, tool: "write", args: { file, text: "hello" } };
}

type Rules = Parameters<typeof gate.tools<[typeof add, typeof write]>>[1];

function agentOf(rules: Rules, calls: readonly ScriptedCall[]) {
  const model = new ScriptedChatModel(calls, {});
  return createAgent({ model, tools: gate.tools([add, write], rules), checkpointer: new MemorySaver() });
}

type Running = ReturnType<typeof agentOf>;

/** What the graph shows, by the arguments of the call. */
async function asked(agent: Running): Promise<readonly Pause[]> {
  const result: object = await agent.invoke({ messages: [{ role: "user", content: "Go." }] }, CONFIG);
  const { __interrupt__: interrupts = [] } = result as { __interrupt__?: readonly { value: Pause }[] };
  return interrupts.map(({ value }) => value);
}

/** Answers these questions as ana does in a front end, and goes on if it can. */
async function answer(
  agent: Running,
  answers: readonly (readonly [Pause | undefined, object])[],
): Promise<{ readonly accepted: readonly boolean[]; readonly told: readonly ToolMessage[] }> {
  const sent = answers.map(([pause, decision]) => [
    pause?.countersign.confirmation,
    { decisions: [decision] },
  ]);
  const results = await gate.record(CONFIG, Object.fromEntries(sent), { by: ana });
  const accepted = results.map(({ ok }) => ok);
  const resumption = await gate.resume(agent, CONFIG);
  if (!resumption.ready) return { accepted, told: [] };
  const { messages } = await agent.invoke(resumption.command, CONFIG);
  return { accepted, told: messages.filter((message) => ToolMessage.isInstance(message)) };
}

function about(pauses: readonly Pause[], member: string, value: unknown): Pause | undefined {
  return pauses.find(({ action_request: { args } }) => args[member] === value);
}

const APPROVE = { type: "approve" };

test("a tool without a rule runs, one with a rule waits and is shown with its words", async () => {
  const rules = { write: { hint: "A file is written." } };
  const agent = agentOf(rules, [adding("c1", 42), writing("c2", "greeting.txt")]);
  const pauses = await asked(agent);
  expect(ran).toEqual([{ a: 42, b: 1 }]);
  expect(pauses).toMatchObject([
    {
      actionRequests: [
        { name: "write", args: { file: "greeting.txt", text: "hello" }, description: "A file is written." },
      ],
      reviewConfigs: [{ actionName: "write", allowedDecisions: ["approve", "reject"] }],
    },
  ]);
  const { told } = await answer(agent, [[pauses[0], APPROVE]]);
  expect(ran).toEqual([
    { a: 42, b: 1 },
    { file: "greeting.txt", text: "hello" },
  ]);
  expect(told.map(({ content }) => content)).toEqual(["43", "wrote greeting.txt"]);
});

test("edited arguments run in place of the model's", async () => {
  const agent = agentOf(EVERY, [writing("c1", "dangerous.txt")]);
  const args = { file: "safe.txt", text: "hello" };
  const [pause] = await asked(agent);
  await answer(agent, [[pause, { type: "edit", editedAction: { name: "write", args } }]]);
  expect(ran).toEqual([args]);
});

test("beside a rejected call the approved one runs, and both have their answer", async () => {
  const agent = agentOf(EVERY, [adding("c1", 5), writing("c2", "blocked.txt")]);
  const pauses = await asked(agent);
  const { told } = await answer(agent, [
    [about(pauses, "a", 5), APPROVE],
    [about(pauses, "file", "blocked.txt"), { type: "reject", message: "No files." }],
  ]);
  expect(ran).toEqual([{ a: 5, b: 1 }]);
  expect(told.map(({ tool_call_id: id, status = "success" }) => [id, status])).toEqual([
    ["c1", "success"],
    ["c2", "error"],
  ]);
  expect(told[1]?.content).toContain("No files.");
});

test("if every call is rejected, nothing runs, and each has its answer", async () => {
  const agent = agentOf(EVERY, [adding("c1", 5), writing("c2", "never.txt")]);
  const pauses = await asked(agent);
  const { told } = await answer(
    agent,
    pauses.map((pause) => [pause, { type: "reject" }] as const),
  );
  expect(ran).toEqual([]);
  expect(told.map(({ tool_call_id: id, status }) => [id, status])).toEqual([
    ["c1", "error"],
    ["c2", "error"],
  ]);
});

test("four calls of one message have four answers, each its own", async () => {
  const agent = agentOf(EVERY, [
    adding("c1", 1),
    writing("c2", "reject.txt"),
    adding("c3", 3),
    writing("c4", "old.txt"),
  ]);
  const pauses = await asked(agent);
  const args = { file: "new.txt", text: "hello" };
  const { told } = await answer(agent, [
    [about(pauses, "file", "old.txt"), { type: "edit", editedAction: { name: "write", args } }],
    [about(pauses, "a", 3), APPROVE],
    [about(pauses, "file", "reject.txt"), { type: "reject", message: "Not this one." }],
    [about(pauses, "a", 1), APPROVE],
  ]);
  expect(ran).toHaveLength(3);
  expect(ran).toEqual(expect.arrayContaining([{ a: 1, b: 1 }, { a: 3, b: 1 }, args]));
  expect(told.map(({ tool_call_id: id }) => id)).toEqual(["c1", "c2", "c3", "c4"]);
  expect(told[1]?.content).toContain("Not this one.");
});

test("fewer answers than questions: the graph waits for the others, and nothing runs", async () => {
  const agent = agentOf(EVERY, [adding("c1", 1), writing("c2", "x.txt")]);
  const pauses = await asked(agent);
  expect(await answer(agent, [[about(pauses, "a", 1), APPROVE]])).toEqual({ accepted: [true], told: [] });
  expect(ran).toEqual([]);
});

test("an answer that the rule does not allow is refused, and the question stays open", async () => {
  const agent = agentOf(EVERY, [adding("c1", 1)]);
  const [pause] = await asked(agent);
  expect(pause?.reviewConfigs[0].allowedDecisions).toEqual(["approve", "reject"]);
  const edited = { type: "edit", editedAction: { name: "add", args: { a: 2, b: 2 } } };
  expect(await answer(agent, [[pause, edited]])).toEqual({ accepted: [false], told: [] });
  expect(await engine.pending()).toHaveLength(1);
});
