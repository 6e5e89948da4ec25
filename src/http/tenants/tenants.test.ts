import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { createEngine } from "../../index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { createApp } from "../app.ts";
import { byHost, byPath, byToken } from "./choose.ts";
import type { OpenTenant } from "./open-tenants.ts";
import { createTenants, type Tenants, type TenantsOptions } from "./tenants.ts";

const resources = useResources();

interface Opened {
  readonly tenants: Tenants;
  readonly opens: readonly string[];
  readonly closes: readonly string[];
  readonly get: (tenant: string, path?: string) => Promise<Response>;
}

/** Tenants by host name, each with a file of its own; `none` does not exist. */
async function open(
  options: Partial<TenantsOptions> = {},
  fetch?: () => Promise<Response>,
  exists: (name: string) => Promise<"open" | undefined> = async (name) =>
    name === "none" ? undefined : "open",
): Promise<Opened> {
  const folder = await resources.folder();
  const [opens, closes]: string[][] = [[], []];
  const openOne = async (name: string): Promise<OpenTenant | undefined> => {
    opens?.push(name);
    if ((await exists(name)) === undefined) return undefined;
    const engine = await createEngine({ ledger: `sqlite:${join(folder, `${name}.db`)}` });
    const app = createApp({
      apps: {},
      engine,
      publicUrl: `https://${name}.test`,
      authenticate: () => ({ id: "ana", scopes: ["read", "decide", "propose"] }),
    });
    return {
      engine,
      app: fetch === undefined ? app : { ...app, fetch },
      close: async () => void closes?.push(name),
    };
  };
  const tenants = createTenants({
    tenantOf: (request) => new URL(request.url).hostname.replace(/\.test$/, ""),
    open: openOne,
    ...options,
  });
  resources.add(() => tenants.close());
  return {
    tenants,
    opens: opens ?? [],
    closes: closes ?? [],
    get: (tenant, path = "/v1/me") =>
      tenants.fetch(new Request(`https://${tenant}.test${path}`, { headers: { host: `${tenant}.test` } })),
  };
}

test("each tenant has its own ledger, opened once and kept open", async () => {
  const { get, opens } = await open();
  const answers = await Promise.all([get("a"), get("a"), get("b"), get("a")]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(opens).toEqual(["a", "b"]);
});

test("two tenants with one ledger are refused", async () => {
  const folder = await resources.folder();
  const openShared = async (): Promise<OpenTenant> => {
    const engine = await createEngine({ ledger: `sqlite:${join(folder, "one.db")}` });
    return { engine, app: createApp({ apps: {}, engine, authenticate: () => ({ id: "ana" }) }) };
  };
  const { get } = await open({ open: openShared });
  expect((await get("localhost")).status).not.toBe(500);
  const refused = await get("b");
  expect([refused.status, await refused.json()]).toMatchObject([500, { code: "invalid-option" }]);
});

test("a tenant that does not exist, and a request for none, get 404", async () => {
  const { get, tenants } = await open();
  expect((await get("none")).status).toBe(404);
  const nowhere = createTenants({ tenantOf: () => undefined, open: async () => undefined });
  expect((await nowhere.fetch(new Request("https://x.test/v1/me"))).status).toBe(404);
  await tenants.close();
});

test("a suspended tenant answers what its opening says", async () => {
  const { get } = await open({
    open: async () => {
      throw new CountersignError("forbidden", "This tenant is suspended.");
    },
  });
  const answer = await get("a");
  expect([answer.status, await answer.json()]).toMatchObject([403, { detail: "This tenant is suspended." }]);
});

test("the tenant that was unused for longest makes room, and made-up names push out nobody", async () => {
  const { get, opens, closes } = await open({ mostOpen: 2 });
  for (const name of ["a", "b", "a", "none", "none", "none"]) await (await get(name)).text();
  expect(closes).toEqual([]);
  await (await get("c")).text();
  await vi.waitFor(() => expect(closes).toEqual(["b"]));
  await (await get("a")).text();
  expect(opens).toEqual(["a", "b", "none", "none", "none", "c"]);
});

test("a tenant with an open stream is not closed; if all are in use, the next one is told to try again", async () => {
  const { get, closes } = await open({ mostOpen: 1 });
  const stream = await get("a", "/v1/confirmations/stream");
  expect(stream.status).toBe(200);
  const refused = await get("b");
  expect([refused.status, await refused.json()]).toMatchObject([503, { code: "ledger-busy" }]);
  await stream.body?.cancel();
  expect((await get("b")).status).toBe(200);
  await vi.waitFor(() => expect(closes).toContain("a"));
});

test("an idle tenant is closed, and opened again when it is needed", async () => {
  const { get, opens, closes } = await open({ idleMs: 1 });
  await (await get("a")).text();
  await vi.waitFor(() => expect(closes).toEqual(["a"]));
  expect((await get("a")).status).toBe(200);
  expect(opens).toEqual(["a", "a"]);
});

test("a tenant that is reopened ends its streams, and its settings are read again", async () => {
  const { get, tenants, opens, closes } = await open();
  const stream = (await get("a", "/v1/confirmations/stream")).text();
  await tenants.reopen("a");
  await stream;
  expect(closes).toEqual(["a"]);
  await (await get("a")).text();
  expect(opens).toEqual(["a", "a"]);
});

test("a tenant that was closed while a request ran is closed once, and the request is finished", async () => {
  const answered = Promise.withResolvers<Response>();
  const { get, tenants, closes } = await open({}, () => answered.promise);
  const request = get("a");
  await vi.waitFor(async () => expect((await get("b", "/healthz")).status).toBe(200));
  const closing = tenants.close();
  answered.resolve(Response.json({ done: true }));
  expect(await (await request).json()).toEqual({ done: true });
  await closing;
  expect(closes).toEqual(["a"]);
});

test("many made-up names at once take no room", async () => {
  const none = Promise.withResolvers<undefined>();
  const { get, opens, closes } = await open({ mostOpen: 1 }, undefined, async (name) =>
    name.startsWith("made-up") ? none.promise : "open",
  );
  const strangers = Array.from({ length: 20 }, (_, i) => get(`made-up-${i}`));
  expect((await get("a")).status).toBe(200);
  expect((await get("a")).status).toBe(200);
  none.resolve(undefined);
  expect(new Set((await Promise.all(strangers)).map(({ status }) => status))).toEqual(new Set([404]));
  expect(opens.filter((name) => name === "a")).toEqual(["a"]);
  expect(closes).toEqual([]);
});

test("what is due in a tenant that is not open is done", async () => {
  const { get, tenants, closes } = await open({ names: () => ["a", "none"], sweepMs: 20, idleMs: 1 });
  const asked = await tenants.fetch(
    new Request("https://a.test/v1/calls", {
      method: "POST",
      headers: { host: "a.test", "content-type": "application/json" },
      body: JSON.stringify({
        app: "shop",
        tool: "refund",
        args: {},
        key: "k1",
        requireConfirmation: true,
        deadline: new Date(Date.now() + 2_000).toISOString(),
      }),
    }),
  );
  expect(asked.status).toBeLessThan(300);
  await asked.text();
  await vi.waitFor(() => expect(closes.length).toBeGreaterThan(0), 10_000);
  const call = async (): Promise<unknown> => (await get("a", "/v1/calls/k1")).json();
  await expect.poll(call, { timeout: 10_000 }).toMatchObject({ status: "expired" });
});

test("probes answer for the process, whichever tenants there are", async () => {
  const { get, tenants } = await open();
  expect((await get("none", "/healthz")).status).toBe(200);
  expect((await get("none", "/readyz")).status).toBe(200);
  tenants.leave();
  expect((await get("none", "/readyz")).status).toBe(503);
  expect((await get("none", "/healthz")).status).toBe(200);
});

test("a tenant is chosen by its host name, however that is written", () => {
  const tenantOf = byHost({ "Acme.example": "acme" });
  const names = ["acme.example", "ACME.example:8443", "acme.example.", "x.acme.example", "acme.example.evil"];
  expect(names.map((host) => tenantOf(new Request(`https://${host}/`)))).toEqual([
    "acme",
    "acme",
    "acme",
    undefined,
    undefined,
  ]);
});

test("a pattern chooses the tenant by one label of the host name", () => {
  const tenantOf = byHost("x-{tenant}.Example");
  const names = [
    "x-acme.example",
    "X-ACME.example.",
    "x-.example",
    "x-a.b.example",
    "acme.example",
    "x-acme.example.evil",
  ];
  expect(names.map((host) => tenantOf(new Request(`https://${host}/`)))).toEqual([
    "acme",
    "acme",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  for (const pattern of ["example", "{tenant}.{tenant}.example"])
    expect(() => byHost(pattern)).toThrow(/Invalid pattern/);
});

test("byToken: the token says which tenant, and the tenant's own app whether it is valid", async () => {
  const folder = await resources.folder();
  const openOne = async (name: string): Promise<OpenTenant> => {
    const engine = await createEngine({ ledger: `sqlite:${join(folder, `${name}.db`)}` });
    const app = createApp({
      apps: {},
      engine,
      publicUrl: "https://api.test",
      authenticate: ({ headers }) =>
        headers.get("authorization") === `Bearer ${name}.secret`
          ? { id: `${name}'s`, scopes: ["read"] }
          : undefined,
    });
    return { engine, app };
  };
  const tenantOf = byToken((token) => /^(a|b)\./.exec(token)?.[1]);
  const { tenants } = await open({ tenantOf, open: openOne });
  const me = async (authorization?: string): Promise<unknown> => {
    const headers = { host: "api.test", ...(authorization === undefined ? {} : { authorization }) };
    const answer = await tenants.fetch(new Request("https://api.test/v1/me", { headers }));
    return answer.status === 200
      ? ((await answer.json()) as { principal: { id: string } }).principal.id
      : answer.status;
  };
  expect(await me("Bearer a.secret")).toBe("a's");
  expect(await me("Bearer b.secret")).toBe("b's");
  expect(await me("Bearer a.wrong")).toBe(401);
  expect(await me("Bearer c.secret")).toBe(404);
  expect(await me("Basic a.secret")).toBe(404);
  expect(await me()).toBe(404);
});

test("a tenant is chosen by the path, and nothing but a plain name is one", () => {
  const tenantOf = byPath("/t");
  const paths = [
    "/t/acme/v1/me",
    "/t/acme",
    "/t/",
    "/t",
    "/x/acme",
    "/t/%2e%2e/v1",
    "/t/a%2fb/v1",
    "/tt/acme",
  ];
  expect(paths.map((path) => tenantOf(new Request(`https://x.test${path}`)))).toEqual([
    "acme",
    "acme",
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(() => byPath("t/")).toThrow(/Invalid path/);
});
