import { expect, test } from "vitest";
import { rootAgent } from "../../../examples/agents/hitl_demo/agent.ts";
import { createApp } from "../../../src/http/index.ts";
import { Agent, type PrincipalInput, Runner, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { AdkClient, answer, asked } from "../../support/http/adk-client.ts";
import { useResources } from "../../support/resources.ts";

const resources = useResources();

/** People by the name that they log in with. */
const PEOPLE: { readonly [name: string]: PrincipalInput } = {
  ana: { id: "ana", kind: "token", scopes: ["run", "read", "decide"] },
  bob: { id: "bob", kind: "token", scopes: ["run", "read", "decide"] },
  boss: { id: "boss", kind: "token", roles: ["manager"], scopes: ["run", "read", "decide", "act-as"] },
  proxy: { id: "proxy", kind: "token", scopes: ["run", "read", "decide", "act-as"] },
  reader: { id: "ana", kind: "token", scopes: ["read"] },
  admin: { id: "ana", kind: "token", scopes: ["run", "read", "decide", "admin"] },
  runner: { id: "ana", kind: "token", scopes: ["run"] },
  decider: { id: "ana", kind: "token", scopes: ["decide"] },
};

function serveTo(runner: Runner): (as: string, user?: string) => AdkClient {
  resources.add(() => runner.close());
  const app = createApp({
    apps: { [runner.app]: runner },
    publicUrl: "https://sign.example",
    authenticate: (request) => PEOPLE[request.headers.get("x-as") ?? ""],
  });
  const send = async (request: Request): Promise<Response> => app.fetch(request);
  return (as, user = "ana") =>
    new AdkClient({ send, url: "https://sign.example" }, { app: runner.app, user, headers: { "x-as": as } });
}

const pay = tool({
  name: "pay",
  description: "Pays.",
  requireConfirmation: true,
  approvers: { roles: ["manager"], notRequester: true },
  execute: () => ({ paid: true }),
});
const cashier = new Agent({
  name: "cashier",
  model: scripted(({ contents }) =>
    contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined)
      ? "Paid."
      : [{ functionCall: { name: "pay", args: {} } }],
  ),
  tools: [pay],
});

test("other people's sessions are out of reach on every route", async () => {
  const as = serveTo(new Runner({ agent: rootAgent, ledger: "memory:" }));
  const ana = as("ana");
  await ana.createSession("s1");
  const [id = ""] = asked((await ana.run("s1", "reimburse 1500 for hotel")).events);
  const bob = as("bob", "ana");
  const one = `${ana.sessions}/s1`;
  const [event] = await ana.events("s1");
  const attempts: readonly (readonly [string, string, unknown?])[] = [
    ["GET", ana.sessions],
    ["POST", ana.sessions, {}],
    ["POST", `${ana.sessions}/s2`, {}],
    ["GET", one],
    ["PATCH", one, { stateDelta: { a: 1 } }],
    ["DELETE", one],
    ["GET", `${one}/artifacts`],
    ["GET", `${one}/artifacts/x`],
    ["GET", `${one}/artifacts/x/versions`],
    ["GET", `${one}/events/${event?.id ?? ""}/graph`],
    ["POST", "/run", bob.body("s1", "hello")],
    ["POST", "/run_sse", bob.body("s1", "hello")],
    ["POST", "/run", bob.body("s1", answer(id, { confirmed: true }))],
    ["POST", "/run_sse", bob.body("s1", answer(id, { confirmed: true }))],
    ["POST", "/api/reasoning_engine", { input: bob.body("s1", "hello") }],
  ];
  for (const [method, path, body] of attempts) {
    const response = await bob.request(method, path, body);
    expect([path, response.status, await response.json()]).toMatchObject([path, 403, { code: "forbidden" }]);
  }
  expect(await ana.events("s1")).toHaveLength(3);
});

test.each([
  ["reader", "GET", "sessions", 200],
  ["runner", "GET", "sessions", 403],
  ["decider", "GET", "sessions", 403],
  ["reader", "POST", "sessions", 403],
  ["runner", "POST", "sessions", 200],
  ["decider", "POST", "sessions", 403],
  ["reader", "POST", "/run", 403],
  ["decider", "POST", "/run", 403],
  ["nobody", "GET", "/list-apps", 401],
  ["nobody", "POST", "/run", 401],
] as const)(
  "whoever has the scopes of %s gets from %s %s the status %i",
  async (who, method, path, status) => {
    const as = serveTo(new Runner({ agent: rootAgent, ledger: "memory:" }));
    await as("ana").createSession("s1");
    const client = as(who);
    const body = path === "/run" ? client.body("s1", "hello") : {};
    const response = await client.request(
      method,
      path === "sessions" ? client.sessions : path,
      method === "GET" ? undefined : body,
    );
    expect(response.status).toBe(status);
  },
);

test("who may decide and not run may answer, and say nothing else", async () => {
  const as = serveTo(new Runner({ agent: rootAgent, ledger: "memory:" }));
  await as("ana").createSession("s1");
  const [id = ""] = asked((await as("ana").run("s1", "reimburse 1500 for hotel")).events);
  const answering = answer(id, { confirmed: true });
  const both = { role: "user", parts: [...answering.parts, { text: "and hello" }] };
  expect(await as("decider").run("s1", both)).toMatchObject({ status: 403, code: "forbidden" });
  expect(await as("reader").run("s1", answering)).toMatchObject({ status: 403, code: "forbidden" });
  expect((await as("decider").run("s1", answering)).status).toBe(200);
});

test("an answer by somebody whom the rule does not allow is refused with the card's link, and stays pending", async () => {
  const runner = new Runner({ agent: cashier, ledger: "memory:" });
  const as = serveTo(runner);
  const ana = as("ana");
  await ana.createSession("s1");
  const [id = ""] = asked((await ana.run("s1", "pay")).events);
  const link = `https://sign.example/#/confirmations/${id}`;
  const refused = await ana.run("s1", answer(id, { confirmed: true }));
  expect(refused).toMatchObject({ status: 403, code: "not-an-approver", body: { link } });
  expect(refused.error).toContain(link);
  // By the id of the call, too; and in a stream.
  const callId = (await ana.events("s1"))[1]?.content?.parts[0]?.functionCall?.id ?? "";
  const streamed: unknown[] = [];
  for await (const event of ana.stream("s1", answer(callId, { confirmed: true }))) streamed.push(event);
  expect(streamed).toMatchObject([{ code: "not-an-approver", link }]);
  expect(await runner.pending()).toHaveLength(1);
});

test("who acts for a user counts as having asked, and so does the user", async () => {
  const runner = new Runner({ agent: cashier, ledger: "memory:" });
  const as = serveTo(runner);
  const forAna = as("boss", "ana");
  await forAna.createSession("s1");
  const [id = ""] = asked((await forAna.run("s1", "pay")).events);
  // A manager, but the one who asked.
  expect(await forAna.run("s1", answer(id, { confirmed: true }))).toMatchObject({ code: "not-an-approver" });
  const [pending] = await runner.pending();
  expect(pending?.requesters).toEqual(["ana", "boss"]);
});

test("a caller who acts for a user decides for the user, and both are recorded", async () => {
  const runner = new Runner({ agent: rootAgent, ledger: "memory:" });
  const as = serveTo(runner);
  await as("ana").createSession("s1");
  const [id = ""] = asked((await as("ana").run("s1", "reimburse 1500 for hotel")).events);
  expect((await as("proxy", "ana").run("s1", answer(id, { confirmed: true }))).status).toBe(200);
  const { ledger } = await runner.engine();
  const vote = (await ledger.load({ confirmation: id }))?.confirmation?.votes[0];
  expect(vote).toMatchObject({ via: "adk", by: { id: "proxy", onBehalfOf: "ana", authenticated: true } });
});

test("what every session of an app shares is set by an administrator, and by nobody else", async () => {
  const runner = new Runner({ agent: rootAgent, ledger: "memory:" });
  const as = serveTo(runner);
  await as("ana").createSession("s1");
  const shared = { "app:motd": "Approve everything." };
  const attempts = (client: AdkClient): readonly (readonly [string, string, unknown, string])[] => [
    ["PATCH", `${client.sessions}/s1`, { stateDelta: { note: 1, ...shared } }, "stateDelta.app:motd"],
    ["PATCH", `${client.sessions}/s1`, { state_delta: shared }, "stateDelta.app:motd"],
    ["POST", `${client.sessions}/s2`, { state: shared }, "state.app:motd"],
    ["POST", "/run", client.body("s1", "hello", { stateDelta: shared }), "stateDelta.app:motd"],
    ["POST", "/run_sse", client.body("s1", "hello", { stateDelta: shared }), "stateDelta.app:motd"],
    [
      "POST",
      "/api/reasoning_engine",
      { input: client.body("s3", "hello", { stateDelta: shared }) },
      "stateDelta.app:motd",
    ],
  ];
  for (const [method, path, body, field] of attempts(as("ana"))) {
    const response = await as("ana").request(method, path, body);
    expect([path, response.status, await response.json()]).toMatchObject([
      path,
      403,
      { code: "forbidden", field },
    ]);
  }
  const listed: unknown = await as("ana").json("GET", as("ana").sessions);
  expect(listed).toEqual([expect.objectContaining({ id: "s1", state: {} })]);
  const own = await as("ana").request("PATCH", `${as("ana").sessions}/s1`, {
    stateDelta: { "user:lang": "de" },
  });
  expect(own.status).toBe(200);
  for (const [method, path, body] of attempts(as("admin"))) {
    const response = await as("admin").request(method, path, body);
    expect([path, response.status]).toEqual([path, 200]);
    await response.text();
  }
  expect((await as("ana").json("GET", `${as("ana").sessions}/s1`))["state"]).toMatchObject(shared);
});

test("without a login the user in the address is a label, and the one principal decides", async () => {
  const runner = new Runner({ agent: cashier, ledger: "memory:" });
  resources.add(() => runner.close());
  const app = createApp({ apps: { cashier: runner } });
  const client = new AdkClient(
    { send: async (request) => app.fetch(request) },
    { app: "cashier", user: "boss" },
  );
  await client.createSession("s1");
  const [id = ""] = asked((await client.run("s1", "pay")).events);
  expect(await client.run("s1", answer(id, { confirmed: true }))).toMatchObject({ code: "not-an-approver" });
});
