import { describe, expect, test } from "vitest";
import { resumeLedger, suspendLedger } from "../../src/engine/index.ts";
import { createApp } from "../../src/http/index.ts";
import {
  Agent,
  createEngine,
  createLedger,
  type JsonObject,
  type Ledger,
  Runner,
  tool,
} from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import { approvalOf, askedIn, startA2aServer, Wire } from "../e2e/a2a/a2a-server.ts";
import { AdkClient, answer, asked } from "../support/http/adk-client.ts";
import { wrapLedger } from "../support/ledger/ledger-proxy.ts";
import { useResources } from "../support/resources.ts";
import { startSlackScene } from "../support/slack/slack-scene.ts";
import { pressPayload, signedRequest } from "../support/slack/slack-stand-in.ts";

const resources = useResources();
const scopes = ["run", "read", "decide"];

interface Site {
  readonly engine: Awaited<ReturnType<typeof createEngine>>;
  /** A question that needs two approvals, or two denials. */
  readonly ask: () => Promise<string>;
  /** Posts as somebody, with an idempotency key. */
  readonly post: (as: string, path: string, body: object, key: string) => Promise<JsonObject>;
  readonly votes: (id: string) => Promise<readonly string[]>;
  readonly runs: () => number;
}

async function open(ledger: Ledger | string): Promise<Site> {
  const engine = await createEngine({
    ledger,
    policy: () => ({
      outcome: "confirm",
      reason: "four eyes",
      requirements: [{ from: { users: ["ana", "bob", "carl"] }, count: 2 }],
      denials: 2,
    }),
  });
  resources.add(() => engine.close());
  const app = createApp({
    apps: {},
    engine,
    publicUrl: "https://sign.example",
    authenticate: (request) => ({ id: request.headers.get("x-as") ?? "", scopes }),
  });
  let [asks, runs] = [0, 0];
  const pay = engine.gate("pay", { requireConfirmation: true, amendable: true }, async () => ++runs);
  return {
    engine,
    runs: () => runs,
    async ask() {
      const outcome = await pay({}, { key: `order-${++asks}`, by: { id: "dora" } });
      if (outcome.status !== "pending") throw new Error(`It is ${outcome.status}.`);
      return outcome.confirmation.id;
    },
    async post(as, path, body, key) {
      const headers = { "x-as": as, "content-type": "application/json", "idempotency-key": key };
      const request = { method: "POST", headers, body: JSON.stringify(body) };
      return (await (
        await app.fetch(new Request(`https://sign.example${path}`, request))
      ).json()) as JsonObject;
    },
    async votes(id) {
      const { votes } = await engine.confirmation(id);
      return votes.map(({ by, confirmed }) => `${by.id} ${confirmed ? "approves" : "denies"}`);
    },
  };
}

const yes = { confirmed: true };
const no = { confirmed: false };

describe.each(["memory", "sqlite"])("a request of /v1 that comes again with its key, on %s", (store) => {
  const site = async (): Promise<Site> =>
    open(store === "memory" ? "memory:" : `sqlite:${await resources.folder()}/ledger.db`);

  test("does not give a withdrawn vote again", async () => {
    const { ask, post, votes, runs } = await site();
    const id = await ask();
    const path = `/v1/confirmations/${id}`;
    await post("ana", `${path}/decision`, yes, "k1");
    await post("ana", `${path}/vote-withdrawal`, {}, "k2");
    await post("bob", `${path}/decision`, yes, "k3");
    const again = await post("ana", `${path}/decision`, yes, "k1");
    expect(again).toMatchObject({ id, status: "requested", votes: [{ by: { id: "bob" } }] });
    expect(await votes(id)).toEqual(["bob approves"]);
    expect(runs()).toBe(0);
    await post("ana", `${path}/decision`, yes, "k4");
    expect((await post("ana", `${path}/decision`, yes, "k1"))["status"]).not.toBe("requested");
  });

  test("does not give it again among many", async () => {
    const { ask, post, votes } = await site();
    const [one, other] = [await ask(), await ask()];
    const body = { decisions: [one, other].map((id) => ({ id, ...yes })) };
    await post("ana", "/v1/decisions", body, "k1");
    await post("ana", `/v1/confirmations/${one}/vote-withdrawal`, {}, "k2");
    const again = await post("ana", "/v1/decisions", body, "k1");
    expect(again).toMatchObject({ results: [{ status: 200 }, { status: 200 }] });
    expect([await votes(one), await votes(other)]).toEqual([[], ["ana approves"]]);
  });

  test("does not reverse a vote that was changed", async () => {
    const { ask, post, votes } = await site();
    const id = await ask();
    const path = `/v1/confirmations/${id}/decision`;
    await post("ana", path, yes, "k1");
    await post("ana", path, no, "k2");
    await post("ana", path, yes, "k1");
    expect(await votes(id)).toEqual(["ana denies"]);
  });

  test("does not give a vote that it repeated", async () => {
    const { ask, post, votes } = await site();
    const id = await ask();
    const path = `/v1/confirmations/${id}`;
    for (const key of ["k1", "k2"]) await post("ana", `${path}/decision`, yes, key);
    await post("ana", `${path}/vote-withdrawal`, {}, "k3");
    await post("ana", `${path}/decision`, yes, "k2");
    expect(await votes(id)).toEqual([]);
  });

  test("does not withdraw a vote that was given since", async () => {
    const { ask, post, votes } = await site();
    const id = await ask();
    const path = `/v1/confirmations/${id}`;
    await post("ana", `${path}/decision`, yes, "k1");
    await post("ana", `${path}/vote-withdrawal`, {}, "k2");
    await post("ana", `${path}/decision`, yes, "k3");
    await post("ana", `${path}/vote-withdrawal`, {}, "k2");
    expect(await votes(id)).toEqual(["ana approves"]);
  });

  test("is answered like the first if both come at once", async () => {
    const { ask, post, votes } = await site();
    const id = await ask();
    const path = `/v1/confirmations/${id}/decision`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => post("ana", path, yes, "k1")));
    for (const one of answers) expect(one).toMatchObject({ id, votes: [{ by: { id: "ana" } }] });
    expect(await votes(id)).toEqual(["ana approves"]);
  });

  test("gets the question in whose place its vote stands, if it changed the arguments", async () => {
    const { ask, post } = await site();
    const path = `/v1/confirmations/${await ask()}/decision`;
    const body = { ...yes, args: { amount: 1 } };
    const first = await post("ana", path, body, "k1");
    expect(first).toMatchObject({ status: "requested", votes: [{ by: { id: "ana" } }] });
    expect(await post("ana", path, body, "k1")).toEqual(first);
  });

  test("is judged if it was refused only because the ledger was suspended", async () => {
    const { engine, ask, post, votes } = await site();
    const [id, other] = [await ask(), await ask()];
    const path = `/v1/confirmations/${id}/decision`;
    await post("bob", path, yes, "k0");
    await suspendLedger(engine.ledger.items, {});
    expect(await post("ana", path, yes, "k1")).toMatchObject({ code: "suspended" });
    await resumeLedger(engine.ledger.items);
    expect((await post("ana", path, yes, "k1"))["status"]).not.toBe("requested");
    expect(await votes(other)).toEqual([]);
  });

  test("with another body is another request, once the key is free again", async () => {
    const { engine, ask, post, votes } = await site();
    const [one, other] = [await ask(), await ask()];
    const decide = (id: string) => post("ana", "/v1/decisions", { decisions: [{ id, ...yes }] }, "k1");
    await decide(one);
    for (const item of (await engine.ledger.items.list("idempotency")).items)
      await engine.ledger.items.remove(item);
    await decide(other);
    expect([await votes(one), await votes(other)]).toEqual([["ana approves"], ["ana approves"]]);
  });

  test("does not make a revoked delegation again", async () => {
    const { engine, post } = await site();
    const body = { to: "bob", until: new Date(Date.now() + 3_600_000).toISOString() };
    const made = await post("ana", "/v1/delegations", body, "k1");
    expect(await post("ana", "/v1/delegations", body, "k2")).toEqual(made);
    await post("ana", `/v1/delegations/${made["id"] as string}/revocation`, {}, "k3");
    for (const key of ["k1", "k2"]) expect(await post("ana", "/v1/delegations", body, key)).toEqual(made);
    expect(await engine.delegations({})).toEqual([]);
    expect((await post("ana", "/v1/delegations", body, "k4"))["id"]).not.toBe(made["id"]);
  });
});

test("a message over A2A that comes again does not give a withdrawn vote again", async () => {
  const server = await startA2aServer(resources, {
    login: true,
    decisions: true,
    policy: () => ({
      outcome: "confirm",
      reason: "four eyes",
      requirements: [{ from: { users: ["ana", "bob"] }, count: 2 }],
    }),
  });
  const wire = new Wire(server, { hitl: true, as: { id: "ana", kind: "token", scopes } });
  const task = await wire.order({ id: "call-1", name: "delete_file", args: { path: "a" } });
  const [id = ""] = askedIn(task);
  await wire.answer(task, approvalOf(task), { messageId: "m-1" });
  await server.runner.withdrawVote(id, { by: { id: "ana" } });
  await wire.answer(task, approvalOf(task), { messageId: "m-1" });
  expect((await server.runner.confirmation(id)).votes).toEqual([]);
});

test("a run with a key that comes again after a crash gives only the votes that it had not given", async () => {
  const inner = await createLedger("memory:");
  resources.add(() => inner.close());
  let crashes = true;
  const ledger = wrapLedger(inner, {
    items: {
      put: async (...[item, read]: Parameters<Ledger["items"]["put"]>) => {
        if (item.kind === "answers-outcome" && crashes) throw new Error("crashed");
        return inner.items.put(item, read);
      },
    },
  });
  const runner = new Runner({
    agent: new Agent({
      name: "cashier",
      model: scripted(() => [{ functionCall: { name: "pay", args: {} } }]),
      tools: [tool({ name: "pay", description: "Pays.", execute: () => ({ paid: true }) })],
    }),
    ledger,
    policy: () => ({
      outcome: "confirm",
      reason: "four eyes",
      requirements: [{ from: { users: ["ana", "bob"] }, count: 2 }],
    }),
  });
  resources.add(() => runner.close());
  const app = createApp({ apps: { cashier: runner }, authenticate: () => ({ id: "ana", scopes }) });
  const client = new AdkClient(
    { send: async (request) => app.fetch(request) },
    { app: "cashier", user: "ana" },
  );
  await client.createSession("s1");
  const [id = ""] = asked((await client.run("s1", "pay")).events);
  const answered = client.body("s1", answer(id, yes));
  const send = () => client.request("POST", "/run", answered, { "idempotency-key": "k1" });
  expect((await send()).status).toBe(500);
  expect((await runner.confirmation(id)).votes).toHaveLength(1);
  await runner.withdrawVote(id, { by: { id: "ana" } });
  crashes = false;
  expect((await send()).status).toBe(200);
  expect((await runner.confirmation(id)).votes).toEqual([]);
});

test("a press in Slack whose request comes again does not give a withdrawn vote again", async () => {
  const scene = await startSlackScene(resources, {
    policy: () => ({
      outcome: "confirm",
      reason: "four eyes",
      requirements: [{ from: { users: ["bob", "meg"] }, count: 2 }],
    }),
  });
  const id = await scene.ask();
  const press = pressPayload(await scene.card("U0BOB", id), { user: "U0BOB", action: "approve" });
  const votes = async (): Promise<number> => (await scene.engine.confirmation(id)).votes.length;
  expect((await scene.app.fetch(signedRequest(press))).status).toBe(200);
  expect(await votes()).toBe(1);
  await scene.engine.withdrawVote(id, { by: { id: "bob" } });
  expect((await scene.app.fetch(signedRequest(press))).status).toBe(200);
  expect(await votes()).toBe(0);
});
