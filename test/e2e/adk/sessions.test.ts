import { expect, test } from "vitest";
import { rootAgent } from "../../../examples/agents/hitl_demo/agent.ts";
import { createApp } from "../../../src/http/index.ts";
import { Runner, type Session } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { AdkClient, answer, asked, told } from "../../support/http/adk-client.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();

function start(): { readonly runner: Runner; readonly client: AdkClient } {
  const runner = new Runner({ agent: rootAgent, ledger: "memory:" });
  resources.add(() => runner.close());
  const app = createApp({ apps: { hitl_demo: runner } });
  return {
    runner,
    client: new AdkClient({ send: async (request) => app.fetch(request) }, { app: "hitl_demo" }),
  };
}

test("a session is renamed as the ADK's web UI does it, and the list shows the new name", async () => {
  const { client } = start();
  await client.createSession("s1", {
    state: { __session_metadata__: { displayName: "first" }, plan: "gold" },
  });
  const renamed = { __session_metadata__: { displayName: "second" } };
  const session = await client.json("PATCH", `${client.sessions}/s1`, { stateDelta: renamed });
  expect(session["state"]).toEqual({ ...renamed, plan: "gold" });
  expect(await (await client.request("GET", client.sessions)).json()).toMatchObject([
    { id: "s1", state: renamed },
  ]);
  const snake = await client.json("PATCH", `${client.sessions}/s1`, { state_delta: { plan: "silver" } });
  expect(snake["state"]).toEqual({ ...renamed, plan: "silver" });
  const none = await client.request("PATCH", `${client.sessions}/none`, { stateDelta: {} });
  expect([none.status, await none.json()]).toMatchObject([404, { error: "Session not found: none" }]);
});

test("a session is imported with its words, and without its questions", async () => {
  const { client, runner } = start();
  await client.createSession("s1");
  await client.run("s1", "hello");
  await client.run("s1", "reimburse 1500 for hotel");
  const events = await client.events("s1");
  const body = { events, state: { plan: "gold" } };
  const imported = (await client.json("POST", client.sessions, body)) as unknown as Session;
  const copy = imported.events;
  expect(told(copy)).toEqual(["hello", "You said: hello", "reimburse 1500 for hotel", "reimburse?"]);
  expect(asked(copy)).toEqual([]);
  const [id = ""] = asked(events);
  const there = await client.run(imported.id, answer(id, { confirmed: true }));
  expect(there).toMatchObject({ status: 404, code: "unknown-confirmation" });
  expect(await runner.pending()).toHaveLength(1);
  expect(told((await client.run(imported.id, "and now?")).events)).toEqual(["You said: and now?"]);
});

test.each([
  [{ events: [{ author: 5 }] }, "events[0].author"],
  [{ events: [{ content: { parts: "none" } }] }, "events[0].content.parts"],
  [{ events: "all of them" }, "events"],
  [{ state: [] }, "state"],
  [{ sessionId: 7 }, "sessionId"],
  [{ session_id: "a", sessionId: "b" }, "sessionId"],
] as readonly (readonly [JsonObject, string])[])("%j is refused by its member %s", async (body, field) => {
  const { client } = start();
  const response = await client.request("POST", client.sessions, body);
  expect([response.status, await response.json()]).toMatchObject([422, { code: "malformed-request", field }]);
  expect(await (await client.request("GET", client.sessions)).json()).toEqual([]);
});

test("a session is deleted with its content, and not while a call is at work", async () => {
  const { client, runner } = start();
  await client.createSession("s1");
  const [id = ""] = asked((await client.run("s1", "reimburse 1500 for hotel")).events);
  const gone = await client.request("DELETE", `${client.sessions}/s1`);
  expect([gone.status, await gone.text()]).toEqual([204, ""]);
  expect(await runner.pending()).toEqual([]);
  expect(await client.run("s1", answer(id, { confirmed: true }))).toMatchObject({ status: 404 });
});

test("a deleted session's id is not used again, and the error says why", async () => {
  const { client } = start();
  await client.createSession("s1", { state: { plan: "gold" } });
  await client.request("DELETE", `${client.sessions}/s1`);
  const again = await client.request("POST", `${client.sessions}/s1`, {});
  expect([again.status, await again.json()]).toEqual([
    400,
    {
      code: "session-exists",
      error: "The session s1 was deleted, and its id cannot be used again. Choose another id.",
    },
  ]);
  const input = client.body("s1", "hello");
  const wrapped = await client.request("POST", "/api/reasoning_engine", { input });
  expect([wrapped.status, await wrapped.json()]).toMatchObject([404, { code: "session-deleted" }]);
});

test("a state member called __proto__ is stored like any other", async () => {
  const { client } = start();
  const one = `${client.sessions}/s1`;
  const text = async (method: string, body: string): Promise<string> =>
    (await client.request(method, one, JSON.parse(body))).text();
  expect(await text("POST", '{"state":{"__proto__":{"a":1}}}')).toContain('"state":{"__proto__":{"a":1}}');
  expect(await text("PATCH", '{"stateDelta":{"b":2,"__proto__":{"a":2}}}')).toContain(
    '"state":{"__proto__":{"a":2},"b":2}',
  );
});

const ENDLESS = Array.from({ length: 2_000 }, (_, index) => (index * 7_919).toString(36)).join("");
const NUL = "a\0b";

test.each([
  ["an endless id", "sessionId", ENDLESS.slice(0, 12_000), "POST"],
  ["an id with a NUL", "sessionId", NUL, "POST"],
  ["an endless id that is only asked for", "sessionId", ENDLESS, "GET"],
  ["an id with a NUL that is only asked for", "sessionId", NUL, "GET"],
  ["an endless id of what is to be deleted", "sessionId", ENDLESS, "DELETE"],
])("%s is refused by its name", async (_, field, id, method) => {
  const { client } = start();
  const path = `${client.sessions}/${encodeURIComponent(id)}`;
  const response = await client.request(method, path, method === "POST" ? {} : undefined);
  expect([response.status, await response.json()]).toMatchObject([422, { code: "malformed-request", field }]);
});

test.each(["/run", "/run_sse"])("so is each name in a message to %s", async (path) => {
  const { client } = start();
  for (const name of ["userId", "sessionId"])
    for (const value of [ENDLESS, NUL]) {
      const response = await client.request("POST", path, { ...client.body("s1", "hello"), [name]: value });
      expect([response.status, await response.json()]).toMatchObject([422, { field: name }]);
    }
});

test("so is a user of whom nobody could be told, and an id in a body", async () => {
  const { client } = start();
  for (const value of [ENDLESS, NUL]) {
    const sessions = `/apps/hitl_demo/users/${encodeURIComponent(value)}/sessions`;
    expect(await client.json("GET", sessions)).toMatchObject({ field: "userId" });
    expect(await client.json("POST", sessions, {})).toMatchObject({ field: "userId" });
    const named = await client.json("POST", client.sessions, { sessionId: value });
    expect(named).toMatchObject({ code: "malformed-request", field: "sessionId" });
  }
  const state = { [ENDLESS]: 1 };
  expect(await client.json("POST", client.sessions, { state })).toMatchObject({ field: "state" });
  await client.createSession("s1");
  expect(await client.run("s1", "hello", { stateDelta: state })).toMatchObject({ status: 422 });
  expect(await client.events("s1")).toEqual([]);
});

test("state given with a message is the session's, and its event says so", async () => {
  const { client } = start();
  await client.createSession("s1");
  await client.run("s1", "hello", { state_delta: { seen: true, "temp:x": 1 } });
  const session = await client.json("GET", `${client.sessions}/s1`);
  expect(session["state"]).toEqual({ seen: true });
  expect((session["events"] as readonly JsonObject[])[0]).toMatchObject({
    actions: { stateDelta: { seen: true } },
  });
});
