import { describe, expect, test } from "vitest";
import {
  type Client,
  type ClientOptions,
  CountersignProblem,
  createClient,
} from "../../../src/client/index.ts";
import { partsOf } from "../../../src/engine/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { useResources } from "../../support/resources.ts";
import {
  type ApprovalsServer,
  type ApprovalsServerOptions,
  startApprovalsServer,
} from "./approvals-server.ts";

const resources = useResources();

// The people of the stage are known by the whole header, so the client's "Bearer " has to be told to them.
function clientOf(approvals: ApprovalsServer, person: string, options: Partial<ClientOptions> = {}): Client {
  return createClient({
    baseUrl: "http://127.0.0.1",
    headers: { authorization: person },
    fetch: (request) => approvals.app.fetch(request),
    ...options,
  });
}

async function listen(approvals: ApprovalsServer): Promise<string> {
  const server = await serve({ app: approvals.app, port: 0 });
  resources.add(() => server.close({ graceMs: 100 }));
  return server.url;
}

async function openWith(
  options?: ApprovalsServerOptions,
): Promise<{ approvals: ApprovalsServer; ana: Client }> {
  const approvals = await startApprovalsServer(resources, options);
  return { approvals, ana: clientOf(approvals, "ana") };
}

test("does over HTTP what the API does: list, look, decide, look back", async () => {
  const approvals = await startApprovalsServer(resources);
  const ana = createClient({ baseUrl: `${await listen(approvals)}/`, headers: { authorization: "ana" } });
  expect(await ana.me()).toMatchObject({ principal: { id: "ana" }, apps: ["bank"] });
  const [asked] = await approvals.say("ana", "pay 5 and pay 6", "s-1");
  const { items } = await ana.confirmations.list({ tool: "pay", status: ["requested", "denied"] });
  expect(items).toHaveLength(2);
  const id = asked?.id ?? "";
  expect(await ana.confirmations.get(id)).toMatchObject({ id, status: "requested" });
  expect((await ana.confirmations.context(id)).turn).toHaveLength(1);
  const decided = await ana.confirmations.decide(id, { confirmed: true, version: 1 }, { wait: 30 });
  expect(decided.status).toBe("succeeded");
  const other = items.find((one) => one.id !== id)?.id ?? "";
  expect(await ana.confirmations.cancel(other, { reason: "enough" })).toMatchObject({ status: "cancelled" });
  const audit = await ana.audit({ confirmation: id });
  expect(audit.items.map(({ kind }) => kind)).toContain("confirmation-approved");
  const results = await ana.decideMany([
    { id, confirmed: true },
    { id: "adk-none", confirmed: true },
  ]);
  expect(results.map(({ status }) => status)).toEqual([200, 404]);
});

test("settles what is unknown, asked about or not", async () => {
  const { approvals, ana } = await openWith();
  const [asked] = await approvals.say("ana", "lose 1");
  const id = asked?.id ?? "";
  expect((await ana.confirmations.decide(id, { confirmed: true }, { wait: 30 })).status).toBe("unknown");
  expect((await ana.confirmations.settle(id, { as: "failed", error: "lost" })).status).toBe("failed");
  await approvals.say("ana", "look 1");
  const [call] = (await ana.calls.unknown()).items;
  expect((await ana.calls.settle(call?.id ?? "", { as: "succeeded", result: 1 })).status).toBe("succeeded");
});

test("reads the journal in order; its positions increase and have gaps", async () => {
  const { approvals, ana } = await openWith();
  const [asked] = await approvals.say("ana", "pay 1");
  await ana.confirmations.decide(asked?.id ?? "", { confirmed: true }, { wait: 30 });
  const { items } = await clientOf(approvals, "root").audit();
  const places = items.map(({ seq }) => seq);
  expect(places.length).toBeGreaterThan(1);
  expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
  expect((places.at(-1) ?? 0) - (places[0] ?? 0)).toBeGreaterThan(places.length);
  expect(items[0]).not.toHaveProperty("bodyDigest");
});

test("verifies the journal for an administrator", async () => {
  const { approvals } = await openWith();
  expect(await clientOf(approvals, "root").verify()).toMatchObject({ ok: true });
});

describe("a refusal", () => {
  test("is thrown as a problem with its code, status, field and hint", async () => {
    const { ana } = await openWith();
    const refused = ana.confirmations.get("adk-none");
    await expect(refused).rejects.toBeInstanceOf(CountersignProblem);
    await expect(refused).rejects.toMatchObject({ status: 404, code: "unknown-confirmation" });
    const asked = ana.confirmations.list({ limit: 0 });
    await expect(asked).rejects.toMatchObject({ status: 422, code: "malformed-request", field: "limit" });
  });

  test("of another kind of server is still a problem", async () => {
    const client = createClient({
      baseUrl: "http://127.0.0.1",
      fetch: async () => new Response("<html>", { status: 502 }),
    });
    await expect(client.me()).rejects.toMatchObject({ status: 502, code: undefined });
  });
});

test("the token goes as a bearer token, and is asked for each time", async () => {
  const sent: (string | null)[] = [];
  let count = 0;
  const client = createClient({
    baseUrl: "http://127.0.0.1",
    token: () => `t-${(count += 1)}`,
    fetch: async (request) => {
      sent.push(request.headers.get("authorization"));
      return Response.json({});
    },
  });
  await client.me();
  await client.me();
  expect(sent).toEqual(["Bearer t-1", "Bearer t-2"]);
});

function losing(
  approvals: ApprovalsServer,
  losses: number,
  lost: "before" | "after",
): { client: Client; tries: () => number } {
  let tries = 0;
  const client = clientOf(approvals, "ana", {
    fetch: async (request) => {
      tries += 1;
      if (tries > losses) return approvals.app.fetch(request);
      if (lost === "after") await approvals.app.fetch(request);
      throw new TypeError("fetch failed");
    },
  });
  return { client, tries: () => tries };
}

describe("a lost connection", () => {
  test("throws, and is not retried, if there is no key", async () => {
    const { approvals } = await openWith();
    const [asked] = await approvals.say("ana", "pay 5");
    const { client, tries } = losing(approvals, 1, "before");
    await expect(client.confirmations.decide(asked?.id ?? "", { confirmed: true })).rejects.toThrow(
      "fetch failed",
    );
    expect(tries()).toBe(1);
  });

  test("is tried again under a key, and what was done is not done twice", async () => {
    const { approvals } = await openWith();
    const [asked] = await approvals.say("ana", "pay 5");
    const { client, tries } = losing(approvals, 2, "after");
    const decided = await client.confirmations.decide(
      asked?.id ?? "",
      { confirmed: true },
      { idempotencyKey: "k-1", wait: 30 },
    );
    expect([decided.status, tries(), approvals.done.length]).toEqual(["succeeded", 3, 1]);
  });
});

describe("the stream", () => {
  test("tells typed messages over HTTP, until it is left", async () => {
    const approvals = await startApprovalsServer(resources);
    const ana = createClient({ baseUrl: await listen(approvals), headers: { authorization: "ana" } });
    const states: string[] = [];
    const kinds: string[] = [];
    for await (const message of ana.stream({ onState: (state) => states.push(state) })) {
      kinds.push(message.type);
      if (message.type === "ready") await approvals.say("ana", "pay 5");
      if (message.type === "confirmation") {
        expect(message.confirmation.tool).toBe("pay");
        break;
      }
    }
    expect(kinds).toEqual(["ready", "confirmation"]);
    expect(states).toEqual(["connecting", "open"]);
  });

  test("comes back after its last message when the connection breaks, and misses nothing", async () => {
    const { approvals } = await openWith();
    const asked: (string | null)[] = [];
    const line = new AbortController();
    const client = clientOf(approvals, "ana", {
      fetch: async (request) => {
        asked.push(request.headers.get("last-event-id"));
        const response = await approvals.app.fetch(request);
        return asked.length === 1 ? breakable(response, line.signal) : response;
      },
    });
    const over = new AbortController();
    const seen: { readonly id: string; readonly amount: unknown }[] = [];
    for await (const message of client.stream({ signal: over.signal })) {
      if (message.type === "ready") await approvals.say("ana", "pay 0");
      if (message.type !== "confirmation") continue;
      seen.push({ id: message.id, amount: message.confirmation.args["amount"] });
      if (seen.length === 1) {
        line.abort();
        for (let i = 1; i < 5; i += 1) await approvals.say("ana", `pay ${i}`);
      }
      if (seen.length === 5) over.abort();
    }
    expect(seen.map(({ amount }) => amount)).toEqual([0, 1, 2, 3, 4]);
    expect(asked).toEqual([null, seen[0]?.id]);
  });

  test("tells a reset and the snapshot", async () => {
    const { approvals, ana } = await openWith();
    await approvals.say("ana", "pay 5");
    const got: unknown[] = [];
    for await (const message of ana.stream({ lastEventId: "999999" })) {
      got.push(message);
      if (got.length === 2) break;
    }
    expect(got).toMatchObject([
      { type: "reset", reason: "unknown-id" },
      { type: "snapshot", page: { items: [{ tool: "pay" }] } },
    ]);
  });

  test("ends with a problem where trying again would not help", async () => {
    const { approvals } = await openWith();
    const stranger = clientOf(approvals, "nobody");
    await expect(stranger.stream().next()).rejects.toMatchObject({ status: 401, code: "unauthenticated" });
  });
});

test("sessions and runs go over the ADK's routes", async () => {
  const { ana, approvals } = await openWith();
  expect(await ana.apps()).toEqual(["bank"]);
  const owner = { app: "bank", user: "ana" };
  const { id } = await ana.sessions.create({ ...owner, state: { colour: "red" } });
  expect((await ana.sessions.list(owner)).map((session) => session.id)).toEqual([id]);
  const events = [];
  for await (const event of ana.runSse({ ...owner, session: id, message: "pay 5" })) events.push(event);
  expect(events.at(-1)?.longRunningToolIds).toHaveLength(1);
  const { items } = await ana.confirmations.list({ ...owner, session: id });
  await ana.confirmations.decide(items[0]?.id ?? "", { confirmed: true }, { wait: 30 });
  expect(approvals.done).toHaveLength(1);
  const named = await ana.sessions.create({ ...owner, id: "s-named", state: { colour: "blue" } });
  expect([named.id, named.state]).toEqual(["s-named", { colour: "blue" }]);
  const session = await ana.sessions.get({ ...owner, id });
  expect(session.state).toMatchObject({ colour: "red" });
  await partsOf(approvals.engine).executions.settledIn(items[0]?.invocation ?? "");
  await ana.sessions.delete({ ...owner, id });
  await expect(ana.sessions.get({ ...owner, id })).rejects.toMatchObject({ status: 404 });
});

/** A response whose connection is lost when the signal says so. */
function breakable(response: Response, signal: AbortSignal): Response {
  const passing = new TransformStream<Uint8Array, Uint8Array>();
  return new Response(response.body?.pipeThrough(passing, { signal }) ?? null, { headers: response.headers });
}
