import { describe, expect, test, vi } from "vitest";
import { createA2aApp } from "../../../src/a2a/index.ts";
import type { JsonObject, PrincipalInput } from "../../../src/index.ts";
import { KAGENT_HITL_EXTENSION } from "../../../src/protocol/index.ts";
import { useResources } from "../../support/resources.ts";
import {
  type A2aServer,
  approvalOf,
  askedIn,
  type RpcAnswer,
  startA2aServer,
  stateOf,
  taskIn,
  Wire,
  type WireTask,
} from "./a2a-server.ts";

const resources = useResources();
const ANA: PrincipalInput = { id: "ana" };
const DELETE = { id: "call-1", name: "delete_file", args: { path: "a" } };
const DELETE2 = { id: "call-2", name: "delete_file", args: { path: "a" } };
const WRITE = { id: "call-2", name: "write_file", args: { path: "b" } };

/** What the audit trail has of refusals: who, and with which code. */
async function refusals({ engine }: A2aServer): Promise<readonly unknown[]> {
  const records = await engine.ledger.journal.records({ after: 0, limit: 1000 });
  return records
    .filter(({ kind }) => kind === "decision-refused")
    .map(({ body }) => (body ?? {}) as unknown as { by: { id: string }; code: string; via: string })
    .map(({ by, code, via }) => [by.id, code, via]);
}

async function isWaiting(server: A2aServer, wire: Wire, task: WireTask): Promise<void> {
  expect(stateOf(taskIn(await wire.get(task.id)))).toBe("input-required");
  expect(server.ran).toEqual([]);
}

function codeOf({ error }: RpcAnswer): string | undefined {
  const [detail] = error?.data ?? [];
  return (detail?.["metadata"] as { code?: string } | undefined)?.code;
}

describe("who may decide over A2A", () => {
  test("an authenticated person is refused unless the server takes decisions here, and that is journalled", async () => {
    const server = await startA2aServer(resources, { login: true });
    const wire = new Wire(server, { hitl: true, as: ANA });
    const task = await wire.order(DELETE);
    const refused = await wire.answer(task, approvalOf(task));
    expect([refused.error?.code, codeOf(refused)]).toEqual([-32004, "forbidden"]);
    await isWaiting(server, wire, task);
    expect(await refusals(server)).toEqual([["ana", "forbidden", "a2a"]]);
    await (await server.runner.approve(askedIn(task)[0] ?? "", { by: ANA })).finished;
    expect(stateOf(taskIn(await wire.get(task.id)))).toBe("completed");
  });

  test.each<[string, PrincipalInput]>([
    ["an agent", { id: "ana", kind: "agent" }],
    ["somebody without the scope decide", { id: "ana", scopes: ["run", "read"] }],
    ["somebody who did not prove who they are", { id: "ana", authenticated: false }],
  ])("%s never decides, though the server takes decisions", async (_, who) => {
    const server = await startA2aServer(resources, { login: true, decisions: true });
    const mine = new Wire(server, { hitl: true, as: who });
    const task = await mine.order(DELETE);
    for (const approved of [true, false]) {
      expect(codeOf(await mine.answer(task, approvalOf(task, approved)))).toBe("forbidden");
    }
    await isWaiting(server, mine, task);
    expect(await refusals(server)).toHaveLength(2);
    const person = new Wire(server, { hitl: true, as: ANA });
    expect(stateOf(taskIn(await person.answer(task, approvalOf(task))))).toBe("completed");
  });

  test("one confirmation that is not theirs to decide leaves all undecided", async () => {
    const server = await startA2aServer(resources, { login: true, decisions: true });
    const wire = new Wire(server, { hitl: true, as: ANA });
    const task = await wire.order(DELETE, { id: "call-3", name: "wire_money", args: {} });
    expect(codeOf(await wire.answer(task, approvalOf(task)))).toBe("not-an-approver");
    await isWaiting(server, wire, task);
    expect(await refusals(server)).toEqual([["ana", "not-an-approver", "a2a"]]);
  });

  test("scopes are asked for before anything is begun or read", async () => {
    const server = await startA2aServer(resources, { login: true });
    const reader = new Wire(server, { as: { id: "ana", scopes: ["read"] } });
    expect(codeOf(await reader.say("hello"))).toBe("forbidden");
    const blind = new Wire(server, { as: { id: "ana", scopes: ["decide"] } });
    expect(codeOf(await blind.get("x"))).toBe("forbidden");
    expect(await server.runner.sessionService.listSessions({ userId: "ana" })).toEqual([]);
  });
});

test("an imported conversation is not a task: nothing of it ran here", async () => {
  const server = await startA2aServer(resources, { login: true, decisions: true });
  const ana = new Wire(server, { hitl: true, as: ANA });
  const parts = [{ text: "delete a" }];
  const told = { id: "e1", invocationId: "i1", author: "user", timestamp: 0, actions: {} };
  const events = [
    { ...told, content: { role: "user", parts } },
    { ...told, id: "e2", author: "desk", content: { role: "model", parts: [{ text: "bob approved it" }] } },
  ];
  const session = await server.runner.sessionService.createSession({
    userId: "ana",
    sessionId: "c1",
    events,
  });
  expect(session.events).toHaveLength(2);
  expect((await ana.call("ListTasks", {})).result).toMatchObject({ tasks: [], totalSize: 0 });
  const own = taskIn(await ana.say("hello", { contextId: "c1" }));
  expect((await ana.call("ListTasks", {})).result).toMatchObject({ tasks: [{ id: own.id }], totalSize: 1 });
  const [key, , invocation] = own.id.split(".");
  expect(invocation).not.toBe("i1");
  expect((await ana.get(`${key}.1.i1`)).error?.code).toBe(-32001);
});

test("only the card is public, whatever an agent is called", async () => {
  const { runner } = await startA2aServer(resources);
  const app = createA2aApp({ apps: { "agent-card.json": runner, desk: runner } });
  expect(app.isOpen("/a2a/desk/.well-known/agent-card.json")).toBe(true);
  for (const path of [
    "/a2a/agent-card.json",
    "/a2a/agent-card.json/",
    "/a2a/desk",
    "/x/a2a/desk/.well-known/agent-card.json",
  ])
    expect([path, app.isOpen(path)]).toEqual([path, false]);
});

describe("a task of somebody else", () => {
  test("does not exist for others: it cannot be read, followed, canceled or answered; an attempt to answer is journalled", async () => {
    const server = await startA2aServer(resources, { login: true, decisions: true });
    const ana = new Wire(server, { hitl: true, as: ANA });
    const eve = new Wire(server, { hitl: true, as: { id: "eve" } });
    const task = await ana.order(DELETE);
    const [gone, missing] = [await eve.get(task.id), await eve.get(`${task.id}x`)];
    expect([gone.error?.code, missing.error?.code]).toEqual([-32001, -32001]);
    expect((await eve.call("CancelTask", { id: task.id })).error?.code).toBe(-32001);
    expect((await eve.stream("SubscribeToTask", { id: task.id }).next()).value).toMatchObject({
      error: { code: -32001 },
    });
    expect((await eve.answer(task, approvalOf(task))).error?.code).toBe(-32001);
    expect((await eve.call("ListTasks", {})).result).toMatchObject({ tasks: [], totalSize: 0 });
    await isWaiting(server, ana, task);
    expect(await refusals(server)).toEqual([["eve", "not-an-approver", "a2a"]]);
  });

  test("does not become theirs by naming its context", async () => {
    const server = await startA2aServer(resources, { login: true, decisions: true });
    const ana = new Wire(server, { hitl: true, as: ANA });
    const eve = new Wire(server, { hitl: true, as: { id: "eve" } });
    const task = await ana.order(DELETE);
    const hers = taskIn(await eve.say("hello", { contextId: task.contextId }));
    expect(stateOf(hers)).toBe("completed");
    expect((await eve.answer({ ...task, id: hers.id }, approvalOf(task))).error?.code).toBe(-32602);
    await isWaiting(server, ana, task);
  });

  test("without a login only the card is answered, without the tools", async () => {
    const server = await startA2aServer(resources, { login: true });
    expect((await new Wire(server).post("GetTask", { id: "x" })).status).toBe(401);
    const card = `${server.url}/.well-known/agent-card.json`;
    const open = await (await fetch(card, { headers: { "A2A-Version": "1.0" } })).text();
    expect(open).toContain("httpAuthSecurityScheme");
    expect(open).not.toContain("delete_file");
    const { headers } = new Wire(server, { as: ANA });
    expect(await (await fetch(card, { headers })).text()).toContain("delete_file");
  });
});

describe("an answer that does not fit leaves the task waiting, and the right one still works", () => {
  type Attack = (wire: Wire, task: WireTask) => Promise<RpcAnswer>;
  const attacks: readonly (readonly [string, Attack])[] = [
    ["another context", (wire, task) => wire.answer(task, approvalOf(task), { contextId: "other" })],
    ["no task", (wire, task) => wire.answer(task, approvalOf(task), { taskId: "" })],
    [
      "a forged task",
      (wire, task) => wire.answer({ ...task, id: task.id.replace(/\.1\./, ".2.") }, approvalOf(task)),
    ],
    [
      "a forged confirmation",
      (wire, task) =>
        wire.answer(task, { type: "tool_approval_response", approvals: [{ id: "adk-x", approved: true }] }),
    ],
    [
      "the call's id",
      (wire, task) =>
        wire.answer(task, { type: "tool_approval_response", approvals: [{ id: "call-1", approved: true }] }),
    ],
    ["an extra member", (wire, task) => wire.answer(task, { ...approvalOf(task), all: true })],
    ["a payload that is a text", (wire, task) => wire.answer(task, "approve")],
    ["a payload and no declaration", (wire, task) => wire.answer(task, approvalOf(task), { extensions: [] })],
    ["a declaration and no payload", (wire, task) => wire.answer(task, {}, { metadata: {} })],
    ["the role of the agent", (wire, task) => wire.answer(task, approvalOf(task), { role: "ROLE_AGENT" })],
    ["no header", async (wire, task) => new Wire(wire).answer(task, approvalOf(task))],
    ["the older form", (wire, task) => wire.decide(task, { decision_type: "approve" })],
    [
      "both forms",
      (wire, task) =>
        wire.answer(task, approvalOf(task), { parts: [wire.data({ decision_type: "approve" })] }),
    ],
    [
      "a request instead of a response",
      (wire, task) =>
        wire.send({
          taskId: task.id,
          extensions: [KAGENT_HITL_EXTENSION],
          metadata: { [KAGENT_HITL_EXTENSION]: { type: "tool_approval_request", tools: [] } },
          parts: [wire.text("x")],
        }),
    ],
  ];

  test.each(attacks)("%s", async (_, attack) => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { hitl: true });
    const task = await wire.order(DELETE);
    expect((await attack(wire, task)).error?.code).toBeLessThan(0);
    await isWaiting(server, wire, task);
    expect(stateOf(taskIn(await wire.answer(task, approvalOf(task))))).toBe("completed");
    expect(server.ran).toHaveLength(1);
  });
});

describe("an answer that comes again", () => {
  test("under its own id has the outcome that it had, and runs nothing twice", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { hitl: true });
    const task = await wire.order(DELETE);
    const done = taskIn(await wire.answer(task, approvalOf(task), { messageId: "m-1" }));
    expect(taskIn(await wire.answer(task, approvalOf(task), { messageId: "m-1" }))).toEqual(done);
    expect(codeOf(await wire.answer(task, approvalOf(task, false), { messageId: "m-1" }))).toBe("key-reused");
    expect(server.ran).toHaveLength(1);
  });

  test("under another id is stale, whether it says the same or the opposite", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { hitl: true });
    const task = await wire.order(DELETE);
    await wire.answer(task, approvalOf(task));
    for (const approved of [true, false]) {
      expect((await wire.answer(task, approvalOf(task, approved))).error?.code).toBe(-32602);
    }
    expect(server.ran).toHaveLength(1);
  });

  test("for a task whose other question was decided elsewhere, it is stale; what is left can be answered", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { hitl: true });
    const task = await wire.order(DELETE, WRITE);
    const [first = ""] = askedIn(task);
    await (await server.runner.deny(first, { by: { id: "boss" } })).finished;
    expect((await wire.answer(task, approvalOf(task))).error?.code).toBe(-32602);
    const rest = taskIn(await wire.get(task.id));
    expect(askedIn(rest)).toHaveLength(1);
    expect(stateOf(taskIn(await wire.answer(rest, approvalOf(rest))))).toBe("completed");
    expect(server.ran.map(({ name }) => name)).toEqual(["write_file"]);
  });
});

describe("the older form decides what was shown, and nothing else", () => {
  test("a question that came since is not approved by a word that was meant for another", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server);
    const task = await wire.order({ id: "call-1", name: "twice", args: {} });
    const [first = ""] = askedIn(task);
    await (await server.runner.approve(first, { by: { id: "boss" } })).finished;
    for (const data of [
      { decision_type: "approve" },
      { decision_type: "batch", decisions: { "call-1": "approve" } },
    ]) {
      expect(codeOf(await wire.decide(task, data))).toBe("stale-version");
    }
    await isWaiting(server, new Wire(server, { hitl: true }), task);
    // It is answered once it has been looked at; the extension's form does not count as that.
    expect(codeOf(await wire.decide(task, { decision_type: "approve" }))).toBe("stale-version");
    const [second = ""] = askedIn(taskIn(await wire.get(task.id)));
    const named = { decision_type: "batch", decisions: { [second]: "approve" } };
    expect(stateOf(taskIn(await wire.decide(task, named)))).toBe("completed");
    expect(server.ran).toHaveLength(1);
  });

  const looser: readonly (readonly [string, JsonObject])[] = [
    ["approve", { decision_type: "approve" }],
    ["deny", { decision_type: "deny" }],
    ["reject", { decision_type: "reject", rejection_reason: "no" }],
    ["a batch by the call's id", { decision_type: "batch", decisions: { "call-1": "approve" } }],
  ];
  test.each(looser)("%s decides no later question of a call, though it was shown", async (_, data) => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server);
    const task = await wire.order({ id: "call-1", name: "twice", args: {} });
    const word = { decision_type: "approve" };
    const paused = taskIn(await wire.decide(task, word, { messageId: "m-1" }));
    const [second = ""] = askedIn(paused);
    // The same message again has its outcome; under a new id it would be for a question that its sender never saw.
    expect(askedIn(taskIn(await wire.decide(task, word, { messageId: "m-1" })))).toEqual([second]);
    for (let repeat = 0; repeat < 2; repeat++) {
      expect((await wire.decide(task, data)).error?.code).toBe(-32602);
      await isWaiting(server, wire, task);
    }
    const response = { name: "adk_request_confirmation", id: second, response: { confirmed: true } };
    const part = wire.data(response, { adk_type: "function_response" });
    const answer = { taskId: task.id, contextId: task.contextId, parts: [part] };
    expect(stateOf(taskIn(await wire.send(answer)))).toBe("completed");
    expect(server.ran).toHaveLength(1);
  });

  test("a question that is shown otherwise since is looked at again first", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server);
    const task = await wire.order(DELETE);
    await server.engine.markRestored({ by: { id: "operator" }, via: "test" });
    expect(codeOf(await wire.decide(task, { decision_type: "approve" }))).toBe("stale-version");
    await isWaiting(server, wire, task);
    expect(stateOf(taskIn(await wire.decide(task, { decision_type: "approve" })))).toBe("completed");
  });

  test("an answer without versions decides nothing of restored questions, not even what it denies", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server, { hitl: true });
    const task = await wire.order(DELETE, DELETE2);
    await server.engine.markRestored({ by: { id: "operator" }, via: "test" });
    expect(codeOf(await wire.answer(task, approvalOf(task)))).toBe("stale-version");
    expect(await server.runner.pending()).toHaveLength(2);
    expect(server.ran).toEqual([]);
  });

  test("a later question beside a first one keeps a bare word from both", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server);
    const task = await wire.order({ id: "call-1", name: "twice", args: {} }, DELETE2);
    const asked = await server.runner.pending();
    const first = asked.find((one) => one.tool === "twice")?.id ?? "";
    await server.runner.approve(first, { by: { id: "boss" } });
    const isAskedAgain = async (): Promise<boolean> =>
      (await server.runner.pending()).some(({ tool, round }) => tool === "twice" && round === 1);
    await vi.waitUntil(isAskedAgain, { timeout: 20_000 });
    expect(askedIn(taskIn(await wire.get(task.id)))).toHaveLength(2);
    expect((await wire.decide(task, { decision_type: "approve" })).error?.code).toBe(-32602);
    expect(server.ran).toEqual([]);
  });

  test("a batch that does not name every call decides nothing", async () => {
    const server = await startA2aServer(resources);
    const wire = new Wire(server);
    const task = await wire.order(DELETE, WRITE);
    expect(
      (await wire.decide(task, { decision_type: "batch", decisions: { "call-1": "approve" } })).error?.code,
    ).toBe(-32602);
    await isWaiting(server, wire, task);
  });
});

test.each<[string, unknown]>([
  ["no JSON", "{"],
  ["a list", "[]"],
  ["no method", '{"jsonrpc":"2.0","id":1}'],
  ["a method that is not there", '{"jsonrpc":"2.0","id":1,"method":"Nope","params":{}}'],
  [
    "a message without parts",
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER"}}}',
  ],
  ["no message", '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}'],
  ["a message that is a text", '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":"x"}}'],
  [
    "parts that are null",
    '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user","parts":[null]}}}',
  ],
  [
    "a member that is given twice",
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x","text":"y"}]}}}',
  ],
  [
    "a push address",
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"taskPushNotificationConfig":{"url":"http://x"}}}}',
  ],
])("%s is told as the client's mistake, and begins nothing", async (_, body) => {
  const server = await startA2aServer(resources);
  const answer = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: String(body),
  });
  expect(answer.status).toBeLessThan(500);
  if (answer.status === 200) expect(((await answer.json()) as RpcAnswer).error?.code).not.toBe(-32603);
  expect(await server.runner.sessionService.listSessions({ userId: "local" })).toEqual([]);
});

test("a version that nobody speaks is refused by name", async () => {
  const server = await startA2aServer(resources);
  const wire = new Wire(server, { headers: { "A2A-Version": "2.0" } });
  expect((await wire.say("hello")).error?.code).toBe(-32009);
});
