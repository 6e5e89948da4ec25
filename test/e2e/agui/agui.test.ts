import { expect, test } from "vitest";
import { useResources } from "../../support/resources.ts";
import { startApprovalsServer } from "../approvals/approvals-server.ts";
import { agentOf, answer, approve, interruptsIn, later, post, say, told, words } from "./agui-client.ts";

const resources = useResources();

test("AG-UI's client streams a text, and then has the ledger's conversation", async () => {
  const server = await startApprovalsServer(resources);
  const agent = agentOf(server, "ana");
  const pieces: string[] = [];
  agent.subscribe({ onTextMessageContentEvent: ({ event }) => void pieces.push(event.delta) });
  expect(await say(agent, "hello there, how are you?")).toEqual([]);
  expect(pieces.join("")).toBe("You said: hello there, how are you?");
  expect(agent.messages).toMatchObject([
    { role: "user", content: "hello there, how are you?" },
    { role: "assistant", content: "You said: hello there, how are you?" },
  ]);
  await say(agent, "again");
  expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

test("a gated call is an interrupt; its answer is the logged-in person's decision, and it runs once", async () => {
  const server = await startApprovalsServer(resources);
  const agent = agentOf(server, "ana");
  const [interrupt] = await say(agent, "pay 5");
  expect(interrupt).toMatchObject({
    reason: "tool_call",
    message: "Approve execution of tool pay?",
    responseSchema: { required: ["approved"], properties: { approved: { type: "boolean" } } },
    metadata: { tool: "pay", args: { amount: 5 }, canDecide: true },
  });
  const asking = agent.messages.at(-1);
  expect(asking).toMatchObject({
    role: "assistant",
    toolCalls: [{ id: interrupt?.toolCallId, function: { name: "pay", arguments: '{"amount":5}' } }],
  });
  expect(server.done).toEqual([]);
  await answer(agent, { approved: true });
  expect(agent.pendingInterrupts).toEqual([]);
  expect(server.done).toEqual([{ tool: "pay", args: { amount: 5 } }]);
  expect(agent.messages.slice(2)).toMatchObject([
    { role: "tool", toolCallId: interrupt?.toolCallId, content: '{"ok":true}' },
    { role: "assistant", content: "done" },
  ]);
  const { json } = await server.ask("ana", "GET", `/v1/confirmations/${interrupt?.id}`);
  expect(json).toMatchObject({
    status: "succeeded",
    decision: { confirmed: true, by: { id: "ana" }, via: "agui" },
  });
});

test("a denial carries its reason, and several questions are answered one by one", async () => {
  const server = await startApprovalsServer(resources);
  const agent = agentOf(server, "ana");
  expect(await say(agent, "pay 5 and pay 6")).toHaveLength(2);
  await answer(agent, { approved: false, reason: "too much" }, { approved: true });
  expect(server.done).toEqual([{ tool: "pay", args: { amount: 6 } }]);
  const results = agent.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results).toContain('{"error":"tool call was rejected by the user","reason":"too much"}');
});

test("an answer to some of the questions leaves the others open", async () => {
  const server = await startApprovalsServer(resources);
  const asked = interruptsIn(await post(server, "ana", { messages: [words("pay 5 and pay 6")] }));
  const first = await post(server, "ana", { resume: [approve(asked[0]?.id ?? "")] });
  expect(interruptsIn(first).map(({ id }) => id)).toEqual([asked[1]?.id]);
  expect(server.done).toHaveLength(1);
});

test("an abandoned interrupt decides nothing: it stays open while the conversation goes on", async () => {
  const server = await startApprovalsServer(resources);
  const agent = agentOf(server, "ana");
  const [asked] = await say(agent, "pay 5");
  const still = await say(agent, "what are you waiting for?");
  expect(still.map(({ id }) => id)).toEqual([asked?.id]);
  expect(agent.messages.at(-1)).toMatchObject({ content: "You said: what are you waiting for?" });
  const nothing = await post(server, "ana", { resume: [later(asked?.id ?? "")] });
  expect(interruptsIn(nothing).map(({ id }) => id)).toEqual([asked?.id]);
  expect(server.done).toEqual([]);
});

test("a page that is opened again gets the conversation, the state and what waits, and nothing runs", async () => {
  const server = await startApprovalsServer(resources);
  await say(agentOf(server, "ana"), "pay 5");
  const reopened = agentOf(server, "ana");
  await reopened.runAgent();
  expect(reopened.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(reopened.pendingInterrupts).toMatchObject([{ reason: "tool_call" }]);
  expect(server.done).toEqual([]);
  await answer(reopened, { approved: true });
  expect(server.done).toHaveLength(1);
});

test("what was decided in the inbox meanwhile is in the next run, and the stale answer is told so", async () => {
  const server = await startApprovalsServer(resources);
  const agent = agentOf(server, "ana");
  const [asked] = await say(agent, "pay 5");
  const decided = await server.ask("ana", "POST", `/v1/confirmations/${asked?.id}/decision?wait=20`, {
    confirmed: true,
  });
  expect(decided.status).toBe(200);
  const refused: unknown[] = [];
  agent.subscribe({ onCustomEvent: ({ event }) => void refused.push(event.value) });
  await answer(agent, { approved: false });
  expect(refused).toMatchObject([{ interruptId: asked?.id, code: "already-decided" }]);
  expect(agent.pendingInterrupts).toEqual([]);
  expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  expect(server.done).toEqual([{ tool: "pay", args: { amount: 5 } }]);
});

test("the same run again has the first outcome, and other words under its id are refused", async () => {
  const server = await startApprovalsServer(resources);
  const message = words("pay 5");
  const first = await post(server, "ana", { runId: "one", messages: [message] });
  const again = await post(server, "ana", { runId: "one", messages: [message] });
  expect(interruptsIn(again)).toEqual(interruptsIn(first));
  expect(interruptsIn(first)).toHaveLength(1);
  const other = await post(server, "ana", { runId: "one", messages: [words("pay 6")] });
  expect(other.events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "key-reused" });
  const [asked] = interruptsIn(first);
  const resume = [approve(asked?.id ?? "")];
  const answers = await Promise.all([1, 2, 3].map(() => post(server, "ana", { runId: "two", resume })));
  expect(answers.map(({ events }) => events.at(-1)?.type)).toEqual(Array(3).fill("RUN_FINISHED"));
  expect(server.done).toHaveLength(1);
});

test("declared secrets are in no event", async () => {
  const server = await startApprovalsServer(resources);
  const run = await post(server, "ana", { messages: [words("login hunter2")] });
  const [shown] = told(run, "MESSAGES_SNAPSHOT");
  expect(JSON.stringify(run.events.filter((event) => event !== shown))).not.toContain("hunter2");
  const messages = shown?.["messages"] as readonly { readonly role: string }[] | undefined;
  const calls = messages?.filter(({ role }) => role !== "user") ?? [];
  expect(calls).toHaveLength(1);
  expect(JSON.stringify(calls)).not.toContain("hunter2");
  expect(interruptsIn(run)).toHaveLength(1);
});

test("a call of which nobody knows whether it ran is an interrupt that nobody can answer here", async () => {
  const server = await startApprovalsServer(resources);
  const agent = agentOf(server, "ana");
  await say(agent, "lose 5");
  await answer(agent, { approved: true });
  expect(agent.pendingInterrupts).toMatchObject([
    { reason: "countersign:outcome_unknown", metadata: { canDecide: false } },
  ]);
  await answer(agent, { approved: true });
  expect(agent.pendingInterrupts).toMatchObject([{ reason: "countersign:outcome_unknown" }]);
  expect(server.done).toHaveLength(1);
});
