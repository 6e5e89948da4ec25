import { expect, test } from "vitest";
import { rootAgent } from "../../../examples/agents/hitl_demo/agent.ts";
import { createApp } from "../../../src/http/index.ts";
import {
  Agent,
  CountersignError,
  createLedger,
  type Model,
  Runner,
  type RunnerOptions,
  tool,
} from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { AdkClient, answer, asked, told } from "../../support/http/adk-client.ts";
import { watchCommits } from "../../support/ledger/ledger-proxy.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();

function start(options: Partial<RunnerOptions> = {}): { readonly client: (as?: string) => AdkClient } {
  const runner = new Runner({ agent: rootAgent, ledger: "memory:", ...options });
  resources.add(() => runner.close());
  const app = createApp({
    apps: { hitl_demo: runner },
    publicUrl: "http://127.0.0.1:8000",
    authenticate: (request) => ({
      id: request.headers.get("x-as") ?? "user",
      scopes: ["run", "read", "decide", "act-as"],
    }),
  });
  const send = async (request: Request): Promise<Response> => app.fetch(request);
  return { client: (as = "user") => new AdkClient({ send }, { app: "hitl_demo", headers: { "x-as": as } }) };
}

const key = (value: string): { readonly headers: { readonly "idempotency-key": string } } => ({
  headers: { "idempotency-key": value },
});

test("the same request under the same key gives the same events, and is one message", async () => {
  const client = start().client();
  await client.createSession("s1");
  const first = await client.run("s1", "greet Ada", key("k1"));
  expect(first.events).toHaveLength(3);
  expect(await client.run("s1", "greet Ada", key("k1"))).toEqual(first);
  const streamed: unknown[] = [];
  for await (const event of client.stream("s1", "greet Ada", key("k1"))) streamed.push(event);
  expect(streamed).toEqual(first.events);
  expect(told(await client.events("s1")).filter((text) => text === "greet Ada")).toHaveLength(1);
  expect((await client.run("s1", "greet Ada", key("k2"))).events).not.toEqual(first.events);
});

test("another request under a used key is refused, and nothing happens", async () => {
  const client = start().client();
  await client.createSession("s1");
  await client.createSession("s2");
  await client.run("s1", "hello", key("k1"));
  const before = await client.events("s1");
  expect(await client.run("s1", "hello there", key("k1"))).toMatchObject({ status: 422, code: "key-reused" });
  expect(await client.run("s2", "hello", key("k1"))).toMatchObject({ status: 422, code: "key-reused" });
  expect([await client.events("s1"), await client.events("s2")]).toEqual([before, []]);
});

test("a key is its principal's own", async () => {
  const { client } = start();
  await client().createSession("s1");
  await client("ana").run("s1", "hello", key("k1"));
  await client("bob").run("s1", "hello", key("k1"));
  expect(told(await client().events("s1")).filter((text) => text === "hello")).toHaveLength(2);
});

test("of requests at the same time under one key one is the message, and all get its events", async () => {
  const client = start().client();
  await client.createSession("s1");
  const runs = await Promise.all(Array.from({ length: 8 }, () => client.run("s1", "greet Ada", key("k1"))));
  const [first] = runs;
  expect(first?.events).toHaveLength(3);
  expect(runs).toEqual(runs.map(() => first));
  expect(await client.events("s1")).toHaveLength(4);
});

test("a repeat goes on watching a run that is still at work", async () => {
  const { model: script, name, tools } = rootAgent;
  if (typeof script !== "object") throw new TypeError("The demo's model is a script.");
  const entered = Promise.withResolvers<void>();
  const speak = Promise.withResolvers<void>();
  const model: Model = {
    ...script,
    async *generate(request, options) {
      entered.resolve();
      await speak.promise;
      yield* script.generate(request, options);
    },
  };
  const client = start({ agent: new Agent({ name, tools, model }) }).client();
  await client.createSession("s1");
  const first = client.run("s1", "hello", key("k1"));
  await entered.promise;
  const repeat = client.run("s1", "hello", key("k1"));
  speak.resolve();
  expect(told((await repeat).events)).toEqual(["You said: hello"]);
  expect(await repeat).toEqual(await first);
});

test("an answer with a key is decided once, and the text beside it is sent once", async () => {
  const client = start().client();
  await client.createSession("s1");
  const [id = ""] = asked((await client.run("s1", "reimburse 1500 for hotel")).events);
  const message = { role: "user", parts: [...answer(id, { confirmed: true }).parts, { text: "thanks" }] };
  const first = await client.run("s1", message, key("k1"));
  expect(told(first.events).at(-1)).toBe("You said: thanks");
  expect(await client.run("s1", message, key("k1"))).toEqual(first);
  const events = await client.events("s1");
  expect(told(events).filter((text) => text === "thanks")).toHaveLength(1);
  expect(await client.run("s1", answer(id, { confirmed: false }), key("k1"))).toMatchObject({
    code: "key-reused",
  });
  expect(await client.events("s1")).toEqual(events);
});

test("a repeat does not withdraw what its own run asks, where talking on would", async () => {
  const client = start({ whilePending: "cancel" }).client();
  await client.createSession("s1");
  const first = await client.run("s1", "reimburse 1500 for hotel", key("k1"));
  expect(await client.run("s1", "reimburse 1500 for hotel", key("k1"))).toEqual(first);
  const [id = ""] = asked(first.events);
  expect((await client.run("s1", answer(id, { confirmed: true }))).status).toBe(200);
});

test("a session is made once under a key, whatever id it was given", async () => {
  const client = start().client();
  const make = async (body: JsonObject, path = client.sessions): Promise<JsonObject> => {
    const response = await client.request("POST", path, body, { "idempotency-key": "k1" });
    return { status: response.status, ...((await response.json()) as JsonObject) };
  };
  const first = await make({ state: { plan: "gold" } });
  expect(first).toMatchObject({ status: 200, state: { plan: "gold" } });
  expect(await make({ state: { plan: "gold" } })).toEqual(first);
  expect(await make({ state: { plan: "silver" } })).toMatchObject({ status: 422, code: "key-reused" });
  expect(await make({ state: { plan: "gold" } }, `${client.sessions}/s9`)).toMatchObject({
    code: "key-reused",
  });
  expect(await (await client.request("GET", client.sessions)).json()).toHaveLength(1);
});

test("a wrapped message that names no session makes one under its key, and says its words there once", async () => {
  const client = start().client();
  const { sessionId: _unnamed, ...input } = client.body("", "greet Ada");
  const say = async (body: JsonObject): Promise<JsonObject> => {
    const headers = { "idempotency-key": "k1" };
    const response = await client.request("POST", "/api/reasoning_engine", { input: body }, headers);
    return { status: response.status, ...((await response.json()) as JsonObject) };
  };
  const first = await say(input);
  expect(first).toMatchObject({ status: 200, output: { length: 3 } });
  expect(await say(input)).toEqual(first);
  expect(await say({ ...input, stateDelta: { a: 1 } })).toMatchObject({ status: 422, code: "key-reused" });
  expect(await (await client.request("GET", client.sessions)).json()).toHaveLength(1);
});

test("a change of state under a key is made once, and not laid over what came after it", async () => {
  const client = start().client();
  await client.createSession("s1");
  const one = `${client.sessions}/s1`;
  const change = async (stateDelta: JsonObject, name: string): Promise<JsonObject> => {
    const response = await client.request("PATCH", one, { stateDelta }, { "idempotency-key": name });
    return { status: response.status, ...((await response.json()) as JsonObject) };
  };
  expect(await change({ step: 1 }, "k1")).toMatchObject({ status: 200, state: { step: 1 } });
  expect(await change({ step: 2 }, "k2")).toMatchObject({ status: 200, state: { step: 2 } });
  expect(await change({ step: 1 }, "k1")).toMatchObject({ status: 200, state: { step: 2 } });
  expect(await change({ step: 3 }, "k1")).toMatchObject({ status: 422, code: "key-reused" });
  expect((await client.json("GET", one))["state"]).toEqual({ step: 2 });
});

test("a deletion sent again under its key has happened, and another under that key does not", async () => {
  const { client } = start();
  const paths = ["s1", "s2"].map((id) => `${client().sessions}/${id}`);
  for (const id of ["s1", "s2"]) await client().createSession(id);
  const remove = async (index: number, as = "user"): Promise<readonly unknown[]> => {
    const path = paths[index] ?? "";
    const response = await client(as).request("DELETE", path, undefined, { "idempotency-key": "k1" });
    return [response.status, response.status === 204 ? "" : ((await response.json()) as JsonObject)["code"]];
  };
  expect([await remove(0), await remove(0)]).toEqual([
    [204, ""],
    [204, ""],
  ]);
  expect(await remove(1)).toEqual([422, "key-reused"]);
  expect(await client().request("GET", paths[1] ?? "")).toMatchObject({ status: 200 });
  // A key is its principal's own: to anybody else the session is not there.
  expect(await remove(0, "ana")).toEqual([404, "unknown-session"]);
});

test("a key that is empty or endless is refused", async () => {
  const client = start().client();
  await client.createSession("s1");
  for (const value of ["", "k".repeat(256)]) {
    expect(await client.run("s1", "hello", key(value))).toMatchObject({
      status: 422,
      code: "malformed-request",
    });
  }
  expect(await client.events("s1")).toEqual([]);
});

test("what a known key was refused stays refused, though it could be decided now", async () => {
  const roles: string[] = [];
  const send = tool({
    name: "wire",
    description: "Wires.",
    requireConfirmation: true,
    approvers: { roles: ["treasurer"] },
    execute: () => ({ ok: true }),
  });
  const model = scripted(({ contents }) =>
    contents.at(-1)?.parts.at(-1)?.functionResponse === undefined
      ? [{ functionCall: { id: "call-1", name: "wire", args: {} } }]
      : "Done.",
  );
  const runner = new Runner({
    agent: new Agent({ name: "hitl_demo", model, tools: [send] }),
    ledger: "memory:",
  });
  resources.add(() => runner.close());
  const app = createApp({ apps: { hitl_demo: runner }, authenticate: () => ({ id: "user", roles }) });
  const client = new AdkClient({ send: async (request) => app.fetch(request) }, { app: "hitl_demo" });
  await client.createSession("s1");
  const [id = ""] = asked((await client.run("s1", "wire it")).events);
  const refused = await client.run("s1", answer(id, { confirmed: true }), key("k1"));
  expect(refused.code).toBe("not-an-approver");
  roles.push("treasurer");
  expect(await client.run("s1", answer(id, { confirmed: true }), key("k1"))).toEqual(refused);
  expect(await runner.pending()).toHaveLength(1);
  expect((await client.run("s1", answer(id, { confirmed: true }), key("k2"))).code).toBeUndefined();
  expect(await runner.pending()).toEqual([]);
});

test("a decision that was lost after its key was bound is made by the repeat, on that question", async () => {
  let failing = true;
  const ledger = watchCommits(await createLedger("memory:"), {
    before: ({ writes }) => {
      const decides = writes.some((write) => write.kind === "confirmation-update");
      if (decides && failing) throw new CountersignError("ledger-unreachable", "The disk is gone.");
    },
  });
  const client = start({ ledger }).client();
  await client.createSession("s1");
  const [id = ""] = asked((await client.run("s1", "reimburse 1500 for hotel")).events);
  const message = answer(id, { confirmed: true });
  expect((await client.run("s1", message, key("k1"))).code).toBe("ledger-unreachable");
  failing = false;
  const done = await client.run("s1", message, key("k1"));
  expect(told(done.events).at(0)).toBe("reimburse!");
  expect(await client.run("s1", message, key("k1"))).toEqual(done);
});
