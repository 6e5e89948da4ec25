import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { suspendLedger, TenantRegistry, type TenantState } from "../../engine/index.ts";
import { createEngine, createLedger } from "../../index.ts";
import { createApp } from "../app.ts";
import type { OpenTenant, TenantFactory } from "./open-tenants.ts";
import { createTenants } from "./tenants.ts";

const resources = useResources();
const by = { by: { id: "olga" } };

const open: TenantFactory = async (name, registered): Promise<OpenTenant> => {
  const engine = await createEngine({
    ledger: registered?.ledger ?? "",
    quota: registered?.limits ?? {},
  });
  return { engine, app: createApp({ apps: {}, engine, publicUrl: `https://${name}.test`, authenticate }) };
};

function authenticate(request: Request) {
  if (request.headers.has("x-nobody")) return undefined;
  return { id: "ana", scopes: ["read", "decide", "propose"] as const };
}

/** Two replicas of a server, and a third process that changes the registry. */
async function serve() {
  const folder = await resources.folder();
  const openRegistry = async (): Promise<TenantRegistry> => {
    const engine = await createEngine({ ledger: `sqlite:${join(folder, "registry.db")}` });
    resources.add(() => engine.close());
    return new TenantRegistry(engine);
  };
  const replica = async () => {
    const tenants = createTenants({
      tenantOf: (request) => new URL(request.url).hostname.replace(/\.test$/, ""),
      registry: await openRegistry(),
      open,
    });
    resources.add(() => tenants.close());
    return (name: string, path = "/v1/me", body?: object, more = {}): Promise<Response> => {
      const headers = { host: `${name}.test`, "content-type": "application/json", ...more };
      const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      return tenants.fetch(new Request(`https://${name}.test${path}`, { headers, ...post }));
    };
  };
  const registry = await openRegistry();
  const add = async (name: string, limits = {}): Promise<void> => {
    await registry.add({ name, ledger: `sqlite:${join(folder, `${name}.db`)}`, limits }, by);
    await registry.move(name, { from: ["creating"], to: "active", ...by });
  };
  return { registry, add, replicas: [await replica(), await replica()] as const };
}

const SUSPENDED = { code: "suspended", detail: expect.stringContaining('"acme" is suspended') as unknown };

test("only active tenants are served; one that is suspended is refused, with its streams ended, on every replica", async () => {
  const { registry, add, replicas } = await serve();
  const move = (from: TenantState, to: TenantState) => registry.move("acme", { from: [from], to, ...by });
  await add("acme");
  await add("other");
  await registry.add({ name: "young", ledger: "sqlite:/nowhere/young.db" }, by);
  const streams = await Promise.all(replicas.map((get) => get("acme", "/v1/confirmations/stream")));
  const [first] = replicas;
  expect([(await first("young")).status, (await first("nobody")).status]).toEqual([404, 404]);
  await move("active", "suspending");
  await Promise.all(streams.map((stream) => stream.text()));
  for (const get of replicas) {
    await vi.waitFor(async () => expect((await get("acme")).status).toBe(403), 10_000);
    expect(await (await get("acme")).json()).toMatchObject(SUSPENDED);
    expect((await get("other")).status).toBe(200);
  }
  await move("suspending", "suspended");
  await move("suspended", "resuming");
  expect((await first("acme")).status).toBe(403);
  await move("resuming", "active");
  for (const get of replicas) expect((await get("acme")).status).toBe(200);
  await move("active", "erased");
  for (const get of replicas)
    await vi.waitFor(async () => expect((await get("acme")).status).toBe(404), 10_000);
});

const ask = (key: string) => ({ app: "shop", tool: "refund", args: {}, key, requireConfirmation: true });

test("a tenant at its limit is refused, with the limit named, and no other tenant is", async () => {
  const { add, replicas } = await serve();
  await add("acme", { pending: 2 });
  await add("small", { sessions: 1 });
  await add("busy", { requestsPerMinute: 2 });
  await add("full", { bytes: 1 });
  await add("other");
  const [get] = replicas;
  const asks = async (name: string, times: number): Promise<readonly number[]> => {
    const answers: number[] = [];
    for (let at = 0; at < times; at += 1) answers.push((await get(name, "/v1/calls", ask(`k${at}`))).status);
    return answers;
  };
  expect(await asks("acme", 3)).toEqual([200, 200, 429]);
  expect(await asks("small", 2)).toEqual([200, 429]);
  expect(await asks("busy", 3)).toEqual([200, 200, 429]);
  expect(await asks("full", 1)).toEqual([429]);
  expect(await asks("other", 3)).toEqual([200, 200, 200]);
  expect(await (await get("acme", "/v1/calls", ask("k9"))).json()).toMatchObject({ code: "over-quota" });
  expect(await (await get("busy")).json()).toMatchObject({ code: "rate-limited" });
  // What was asked before can still be read and decided.
  const { items } = (await (await get("acme", "/v1/confirmations")).json()) as { items: { id: string }[] };
  const decision = await get("acme", `/v1/confirmations/${items[0]?.id}/decision`, { confirmed: false });
  expect([items.length, decision.status]).toEqual([2, 200]);
  await vi.waitFor(async () => expect(await asks("acme", 3)).toEqual([200, 200, 200]), 10_000);
});

test("a limit that is changed counts at once, for whoever has the tenant open", async () => {
  const { registry, add, replicas } = await serve();
  await add("acme", { sessions: 1 });
  const [get] = replicas;
  expect((await get("acme", "/v1/calls", ask("k1"))).status).toBe(200);
  expect((await get("acme", "/v1/calls", ask("k2"))).status).toBe(429);
  await registry.limit("acme", { sessions: 5 }, by);
  await vi.waitFor(async () => expect((await get("acme", "/v1/calls", ask("k2"))).status).toBe(200), 10_000);
});

test("of a suspended tenant, only reports on calls that run are served, on every replica", async () => {
  const { registry, add, replicas } = await serve();
  await add("acme");
  const [get, elsewhere] = replicas;
  for (const key of ["k1", "k2"]) await get("acme", "/v1/calls", { ...ask(key), requireConfirmation: false });
  const claimed = await get("acme", "/v1/calls/k1/claim", { leaseSeconds: 60 });
  const { claim } = (await claimed.json()) as { claim: { token: string; attempt: number } };
  const { ledger } = await registry.move("acme", { from: ["active"], to: "suspending", ...by });
  const operator = await createLedger(ledger);
  resources.add(() => operator.close());
  await suspendLedger(operator.items, {});
  const proof = { token: claim.token, attempt: claim.attempt };
  for (const replica of replicas) {
    await vi.waitFor(async () => expect((await replica("acme")).status).toBe(403), 10_000);
    const beat = await replica("acme", "/v1/calls/k1/heartbeat", { ...proof, leaseSeconds: 60 });
    expect(beat.ok).toBe(true);
    for (const path of ["/v1/calls/k2/claim", "/v1/decisions"])
      expect((await replica("acme", path, { leaseSeconds: 60 })).status).toBe(403);
  }
  const reported = await elsewhere("acme", "/v1/calls/k1/result", { ...proof, result: "paid" });
  expect(await reported.json()).toMatchObject({ status: "succeeded", result: "paid" });
  expect((await get("acme", "/v1/calls/k1")).status).toBe(403);
});

test("requests that use up a tenant's limit refuse neither its decisions nor its reports", async () => {
  const { add, replicas } = await serve();
  await add("busy", { requestsPerMinute: 2 });
  const [get] = replicas;
  await get("busy", "/v1/calls", ask("k1"));
  const { items } = (await (await get("busy", "/v1/confirmations")).json()) as { items: { id: string }[] };
  expect((await get("busy")).status).toBe(429);
  const decide = () => get("busy", `/v1/confirmations/${items[0]?.id}/decision`, { confirmed: false });
  expect((await decide()).status).toBe(200);
  const beat = { token: "none", attempt: 1, leaseSeconds: 60 };
  expect((await get("busy", "/v1/calls/none/heartbeat", beat)).status).not.toBe(429);
  // They have a limit of their own.
  await decide();
  expect((await decide()).status).toBe(429);
});

test("whoever has not logged in uses up nothing of those who have", async () => {
  const { add, replicas } = await serve();
  await add("acme", { requestsPerMinute: 3 });
  const [get] = replicas;
  await get("acme", "/v1/calls", ask("k1"));
  const { items } = (await (await get("acme", "/v1/confirmations")).json()) as { items: { id: string }[] };
  const decision = `/v1/confirmations/${items[0]?.id}/decision`;
  const beat = { token: "none", attempt: 1, leaseSeconds: 60 };
  const stranger = { "x-nobody": "1" };
  for (let at = 0; at < 10; at += 1)
    for (const path of [decision, "/v1/calls/none/heartbeat", "/v1/me"])
      expect((await get("acme", path, beat, stranger)).status).not.toBe(200);
  expect((await get("acme", "/v1/calls/none/heartbeat", beat)).status).not.toBe(429);
  expect((await get("acme")).status).toBe(200);
  expect((await get("acme", decision, { confirmed: false })).status).toBe(200);
});
