import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { McpServer as FirstServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { type GateServerOptions, gateServer, type McpRequest } from "../../src/adapters/mcp-server/index.ts";
import { Engine, ManualClock } from "../../src/engine/index.ts";
import type { JsonObject } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const PAY = { description: "Pays.", inputSchema: { amount: z.number() } };
const identify = (): { thread: string } => ({ thread: "t1" });
const PATIENCE = { timeout: 20_000, interval: 20 };

interface Looked {
  readonly [member: string]: unknown;
  readonly content: [];
}

const look = async (): Promise<Looked> => ({ content: [] });

interface Shop {
  readonly engine: Engine;
  readonly server: FirstServer;
  readonly paid: number[];
  readonly connect: (capabilities?: object) => Promise<Client>;
}

async function openEngine(options: Partial<ConstructorParameters<typeof Engine>[0]> = {}): Promise<Engine> {
  const engine = new Engine({ ledger: await createLedger("memory:"), ...options });
  onTestFinished(() => engine.close());
  return engine;
}

async function shop(more: Partial<GateServerOptions> = {}): Promise<Shop> {
  const engine = more.engine ?? (await openEngine());
  const paid: number[] = [];
  const server = new FirstServer({ name: "shop", version: "1" });
  gateServer(server, { engine, app: "shop", identify, rules: { pay: true }, waitMs: 0, ...more });
  server.registerTool("pay", PAY, async ({ amount }) => {
    paid.push(amount);
    return { content: [{ type: "text", text: `paid ${amount}` }], structuredContent: { paid: amount } };
  });
  return { engine, server, paid, connect: (capabilities) => connect(server, capabilities) };
}

async function shopWithClock(): Promise<Shop & { readonly clock: ManualClock }> {
  const clock = new ManualClock();
  const engine = await openEngine({ clock, ledger: await createLedger("memory:", { clock }) });
  return { clock, ...(await shop({ engine })) };
}

async function connect(server: { connect(to: never): Promise<void> }, capabilities = {}): Promise<Client> {
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server.connect(there as never);
  const client = new Client({ name: "agent", version: "1" }, { capabilities });
  await client.connect(here);
  onTestFinished(() => client.close());
  return client;
}

const pay = (client: Client, amount = 40): ReturnType<Client["callTool"]> =>
  client.callTool({ name: "pay", arguments: { amount } });

async function decide(engine: Engine, confirmed: boolean): Promise<void> {
  const [open] = await vi.waitFor(async () => {
    const pending = await engine.pending();
    expect(pending).toHaveLength(1);
    return pending;
  }, PATIENCE);
  await engine.decide([{ id: open?.id ?? "", confirmed }], { by: ana });
}

test("a call that waits says so, and the same call later gives the outcome, once", async () => {
  const { engine, paid, connect: open } = await shop();
  const client = await open();
  const waiting = await pay(client);
  expect(waiting).toMatchObject({ isError: true, _meta: { "countersign/call": { status: "pending" } } });
  expect(JSON.stringify(waiting.content)).toContain("Call pay again later with the same arguments");
  expect(await pay(client)).toEqual(waiting);
  await decide(engine, true);
  expect(await pay(client)).toMatchObject({ structuredContent: { paid: 40 } });
  // Told: the same arguments are a new call now.
  expect(await pay(client)).toMatchObject({ isError: true });
  expect(await engine.pending()).toHaveLength(1);
  expect(paid).toEqual([40]);
});

test("calls with different arguments are two calls, also if the schema renames all of them", async () => {
  const { engine, server, connect: open } = await shop({ rules: { send: true } });
  const sent: unknown[] = [];
  const payment = z
    .object({ to: z.string(), amount: z.number() })
    .transform(({ to, amount }) => ({ recipient: to, cents: amount * 100 }));
  server.registerTool("send", { inputSchema: { payment } }, async ({ payment: { recipient, cents } }) => {
    sent.push([recipient, cents]);
    return { content: [{ type: "text", text: `sent to ${recipient}` }] };
  });
  const client = await open();
  const send = (to: string, amount: number): ReturnType<Client["callTool"]> =>
    client.callTool({ name: "send", arguments: { payment: { to, amount } } });
  await send("alice", 10);
  await decide(engine, true);
  expect(await send("bob", 5_000)).toMatchObject({ isError: true });
  const [asked, ...others] = await engine.pending();
  expect(asked?.args).toMatchObject({ payment: { recipient: "bob", cents: 500_000 } });
  expect(others).toEqual([]);
  expect(sent).toEqual([]);
  expect(JSON.stringify(await send("alice", 10))).toContain("sent to alice");
  await decide(engine, false);
  expect(JSON.stringify(await send("bob", 5_000))).not.toContain("alice");
  expect(sent).toEqual([["alice", 1_000]]);
});

test("a member that the client leaves undefined was not sent", async () => {
  const { engine, connect: open } = await shop();
  const client = await open();
  await client.callTool({ name: "pay", arguments: { amount: 40, to: undefined } });
  await pay(client);
  expect(await engine.pending()).toHaveLength(1);
});

test("calls that nobody is asked about run each, however equal they are", async () => {
  const { engine, paid, connect: open } = await shop({ rules: { pay: { requireConfirmation: false } } });
  const client = await open();
  await Promise.all([pay(client, 1), pay(client, 1), pay(client, 1)]);
  expect(paid).toEqual([1, 1, 1]);
  expect(await engine.pending()).toEqual([]);
});

test("equal calls at once that need a person are one question and one run", async () => {
  const { engine, paid, connect: open } = await shop({ waitMs: 20_000 });
  const client = await open();
  const all = Promise.all([pay(client), pay(client), pay(client)]);
  await decide(engine, true);
  for (const result of await all) expect(result).toMatchObject({ structuredContent: { paid: 40 } });
  expect(paid).toEqual([40]);
});

test("a client that waits sees progress, and its own answer to a dialog decides nothing", async () => {
  const {
    engine,
    paid,
    connect: open,
  } = await shop({
    waitMs: 30_000,
    inbox: ({ id }) => `https://approvals.example/${id}`,
  });
  const client = await open({ elicitation: { url: {}, form: {} } });
  const opened: unknown[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    opened.push(params);
    return { action: "accept", content: {} };
  });
  const said: unknown[] = [];
  const result = client.callTool(
    { name: "pay", arguments: { amount: 40 } },
    { onprogress: ({ message }) => said.push(message) },
  );
  await vi.waitFor(() => expect([opened.length, said.length > 0]).toEqual([1, true]), PATIENCE);
  const [open1] = await engine.pending();
  expect(opened).toMatchObject([{ mode: "url", url: `https://approvals.example/${open1?.id}` }]);
  expect(paid).toEqual([]);
  await decide(engine, false);
  expect(await result).toMatchObject({ isError: true });
  expect(paid).toEqual([]);
});

test("a client that gives up leaves the question open, and finds it again", async () => {
  const { engine, paid, connect: open } = await shop({ waitMs: 30_000 });
  const client = await open();
  const leaving = new AbortController();
  const given = client.callTool({ name: "pay", arguments: { amount: 40 } }, { signal: leaving.signal });
  given.catch(() => {});
  await vi.waitFor(async () => expect(await engine.pending()).toHaveLength(1), PATIENCE);
  leaving.abort();
  await expect(given).rejects.toThrow("abort");
  const again = pay(client);
  await decide(engine, true);
  expect(await again).toMatchObject({ structuredContent: { paid: 40 } });
  expect(paid).toEqual([40]);
});

describe("a gate is not left out", () => {
  test.each([
    ["misspelt", (): void => {}],
    [
      "registered in another way",
      ({ server }: Shop): void => {
        FirstServer.prototype.registerTool.call(server, "refund", {}, async () => ({ content: [] }));
      },
    ],
  ])("for a rule whose tool is %s: the server does not connect", async (_, register) => {
    const opened = await shop({ rules: { pay: true, refund: true } });
    register(opened);
    await expect(opened.connect()).rejects.toMatchObject({ code: "invalid-option" });
  });

  test.each([
    ["sdk", FirstServer],
    ["server", McpServer as unknown as typeof FirstServer],
  ])(
    "by the engine's policy, for a tool that was registered before the gate: no server connects (%s)",
    async (_, Server) => {
      const engine = await openEngine({ policy: () => ({ outcome: "deny", reason: "too much" }) });
      const server = new Server({ name: "shop", version: "1" });
      server.registerTool("refund", {}, async () => ({ content: [] }));
      gateServer(server, { engine, app: "shop", identify, rules: {} });
      await expect(connect(server)).rejects.toThrow('The tool "refund" is not behind the gate');
    },
  );

  test("for a tool of the older form", async () => {
    const { engine, server, connect: open } = await shop({ rules: { pay: true, refund: true } });
    const refunded: number[] = [];
    server.tool("refund", "Refunds.", { amount: z.number() }, async ({ amount }) => {
      refunded.push(amount);
      return { content: [] };
    });
    const client = await open();
    const refund = { name: "refund", arguments: { amount: 7 } };
    expect(await client.callTool(refund)).toMatchObject({ isError: true });
    expect(await engine.pending()).toMatchObject([{ tool: "refund", args: { amount: 7 } }]);
    expect(refunded).toEqual([]);
    await decide(engine, true);
    expect(await client.callTool(refund)).toEqual({ content: [] });
    expect(refunded).toEqual([7]);
  });

  test("by a new function of the tool", async () => {
    const engine = await openEngine();
    let runs = 0;
    const server = new McpServer({ name: "shop", version: "1" });
    gateServer(server, { engine, app: "shop", identify, rules: { go: true }, waitMs: 0 });
    const tool = server.registerTool("go", {}, async () => ({ content: [] }));
    tool.update({
      callback: async () => {
        runs += 1;
        return { content: [] };
      },
    });
    const client = await connect(server);
    expect(await client.callTool({ name: "go" })).toMatchObject({ isError: true });
    await decide(engine, true);
    expect(await client.callTool({ name: "go" })).toMatchObject({ content: [] });
    expect(runs).toBe(1);
  });

  test.each([
    ["registerTool", (server: FirstServer) => server.registerTool("look", {}, look)],
    ["tool", (server: FirstServer) => server.tool("look", look)],
  ] as const)(
    "only for a tool without a rule: with %s it stays the author's own function",
    async (way, register) => {
      const server = new FirstServer({ name: "shop", version: "1" });
      const registered = vi.spyOn(server, way);
      gateServer(server, { engine: await openEngine(), app: "shop", identify, rules: {} });
      register(server);
      expect(registered.mock.lastCall?.at(-1)).toBe(look);
    },
  );

  test("by the engine's policy, for a tool without a rule", async () => {
    const engine = await openEngine({
      policy: ({ args }) =>
        Number(args["amount"]) > 10 ? { outcome: "deny", reason: "too much" } : undefined,
    });
    const { paid, connect: open } = await shop({ engine, rules: {} });
    const client = await open();
    expect(JSON.stringify(await pay(client, 40))).toContain("too much");
    await pay(client, 5);
    expect(paid).toEqual([5]);
  });
});

test("the thread and the user are the server's: a client's arguments and _meta name neither", async () => {
  const seen: McpRequest[] = [];
  const { engine, connect: open } = await shop({
    identify: (request) => {
      seen.push(request);
      return { thread: "t1", user: "bob" };
    },
  });
  const client = await open();
  const meta: JsonObject = { thread: "t2", user: "eve", callId: "c9" };
  await client.callTool({ name: "pay", arguments: { amount: 40, thread: "t2" }, _meta: meta });
  const [open1] = await engine.pending();
  expect(open1).toMatchObject({ session: "t1", args: { amount: 40 }, requesters: ["agent:shop", "bob"] });
  expect(seen).toMatchObject([{ meta }]);
});

test.each([undefined, "c1"])(
  "two users of one thread share no call, no question and no result (call id: %s)",
  async (callId) => {
    let user = "bob";
    const {
      engine,
      paid,
      connect: open,
    } = await shop({
      identify: () => ({ thread: "t1", user, ...(callId === undefined ? {} : { callId }) }),
      rules: { pay: { approvers: { users: ["ana"] } } },
    });
    const client = await open();
    await pay(client);
    await decide(engine, true);
    user = "eve";
    expect(await pay(client)).toMatchObject({ _meta: { "countersign/call": { status: "pending" } } });
    expect(await engine.pending()).toMatchObject([{ requesters: ["agent:shop", "eve"] }]);
    expect(paid).toEqual([]);
    user = "bob";
    expect(await pay(client)).toMatchObject({ structuredContent: { paid: 40 } });
    expect(paid).toEqual([40]);
  },
);

describe("a client that does not come back in time", () => {
  const HOUR_MS = 3_600_000;

  test("finds no old approval: its next equal call asks anew", async () => {
    const { clock, engine, paid, connect: open } = await shopWithClock();
    const client = await open();
    await pay(client);
    const [first] = await engine.pending();
    await decide(engine, true);
    await clock.advance(HOUR_MS + 1);
    for (const result of await Promise.all([pay(client), pay(client)]))
      expect(result).toMatchObject({ _meta: { "countersign/call": { status: "pending" } } });
    expect(paid).toEqual([]);
    expect(await engine.confirmation(first?.id ?? "")).toMatchObject({ status: "cancelled" });
    await decide(engine, true);
    await clock.advance(HOUR_MS);
    expect(await pay(client)).toMatchObject({ structuredContent: { paid: 40 } });
    expect(paid).toEqual([40]);
  });

  test("finds no old denial", async () => {
    const { clock, engine, connect: open } = await shopWithClock();
    const client = await open();
    await pay(client);
    await decide(engine, false);
    await clock.advance(HOUR_MS + 1);
    expect(await pay(client)).toMatchObject({ _meta: { "countersign/call": { status: "pending" } } });
    expect(await engine.pending()).toHaveLength(1);
  });
});

test("people are told that an equal call has just succeeded", async () => {
  const { engine, connect: open } = await shop({ rules: { pay: { hint: "Pay?" } } });
  const client = await open();
  await pay(client);
  expect(await engine.pending()).toMatchObject([{ hint: "Pay?" }]);
  await decide(engine, true);
  await pay(client);
  await pay(client);
  const [again] = await engine.pending();
  expect(again?.hint).toMatch(
    /^Pay\? An equal call of this thread succeeded at 20\S+Z; its result may not have reached the client\.$/u,
  );
});

const reallyPay = (): { outcome: "confirm"; reason: string; hint: string } => ({
  outcome: "confirm",
  reason: "money",
  hint: "Really pay?",
});

test("people are told of an equal call also where a policy words the question", async () => {
  const { engine, connect: open } = await shop({ engine: await openEngine({ policy: reallyPay }) });
  const client = await open();
  await pay(client);
  expect(await engine.pending()).toMatchObject([{ hint: "Really pay?" }]);
  await decide(engine, true);
  await pay(client);
  await pay(client);
  const [again] = await engine.pending();
  expect(again?.hint).toMatch(/^Really pay\? An equal call of this thread succeeded at 20\S+Z;/u);
});

test("a tool's own failure reaches the client as it is, and is not run again", async () => {
  const engine = await openEngine();
  let runs = 0;
  const server = new FirstServer({ name: "shop", version: "1" });
  gateServer(server, {
    engine,
    app: "shop",
    identify: () => ({ thread: "t1", callId: "c1" }),
    rules: { go: true },
    waitMs: 0,
  });
  server.registerTool("go", {}, async () => {
    runs += 1;
    return { isError: true, content: [{ type: "text", text: "no funds" }], structuredContent: { left: 3 } };
  });
  const client = await connect(server);
  await client.callTool({ name: "go" });
  await decide(engine, true);
  expect(await client.callTool({ name: "go" })).toMatchObject({
    isError: true,
    structuredContent: { left: 3 },
  });
  expect(JSON.stringify(await client.callTool({ name: "go" }))).toContain("no funds");
  expect(runs).toBe(1);
});
