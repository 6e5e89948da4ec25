import { afterEach, expect, test } from "vitest";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { Agent, createEngine, createLedger, type Ledger, Runner } from "../../index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type App, createApp } from "../app.ts";

const releases: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

async function serveOn(ledger: Ledger): Promise<App> {
  const runner = new Runner({ agent: new Agent({ name: "shop" }), ledger });
  releases.push(() => runner.close());
  return createApp({ apps: { shop: runner } });
}

async function ask(app: App, path: string): Promise<readonly [number, unknown]> {
  const response = await app.fetch(new Request(`http://localhost${path}`));
  return [response.status, await response.json()];
}

test("a process that can serve is alive and ready", async () => {
  const app = await serveOn(await createLedger("memory:"));
  expect(await ask(app, "/healthz")).toEqual([200, { status: "ok" }]);
  expect(await ask(app, "/readyz")).toEqual([200, { status: "ok" }]);
});

test("a process whose database does not answer is alive but not ready", async () => {
  const silent = { journal: { lastCheckpoint: () => new Promise<never>(() => {}) } };
  const app = await serveOn(wrapLedger(await createLedger("memory:"), silent));
  expect(await ask(app, "/readyz")).toMatchObject([503, { code: "ledger-unreachable" }]);
  expect(await ask(app, "/healthz")).toEqual([200, { status: "ok" }]);
});

test("a process whose database is gone is not ready", async () => {
  const ledger = await createLedger("memory:");
  const app = await serveOn(ledger);
  await ledger.close();
  expect(await ask(app, "/readyz")).toMatchObject([503, { status: 503 }]);
});

test("a process with another secret than its database's is not ready, and says why only in its log", async () => {
  const ledger = await createLedger("memory:");
  const engine = await createEngine({ ledger, secret: "the first one" });
  await engine.ready();
  const runner = new Runner({ agent: new Agent({ name: "shop" }), ledger, secret: "another" });
  releases.push(() => runner.close());
  const app = createApp({ apps: { shop: runner } });
  const detail = expect.stringMatching(/See the server log for details\.$/) as string;
  expect(await ask(app, "/readyz")).toMatchObject([500, { code: "invalid-option", detail }]);
});

test.each(["leave", "drain"] as const)(
  "a process that is told to %s is alive but not ready",
  async (what) => {
    const app = await serveOn(await createLedger("memory:"));
    app[what]();
    expect(await ask(app, "/readyz")).toMatchObject([503, { code: "closed" }]);
    expect(await ask(app, "/healthz")).toEqual([200, { status: "ok" }]);
  },
);

test("a process that leaves still opens streams; one that drains does not", async () => {
  const app = await serveOn(await createLedger("memory:"));
  const open = (): Promise<Response> => app.fetch(new Request("http://localhost/v1/confirmations/stream"));
  app.leave();
  const stream = await open();
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
  app.drain();
  expect((await open()).status).toBe(503);
});

test("both are in the OpenAPI document, and under whatever name the server is asked for", async () => {
  const app = await serveOn(await createLedger("memory:"));
  const [, document] = await ask(app, "/openapi.json");
  expect(Object.keys((document as { paths: object }).paths)).toEqual(
    expect.arrayContaining(["/healthz", "/readyz", "/metrics"]),
  );
  const probe = await app.fetch(new Request("http://10.1.2.3/readyz"));
  expect(probe.status).toBe(200);
});

test("a process whose lease the ledger does not take is alive but not ready until it does; a probe of one that is well writes nothing", async () => {
  const ledger = await createLedger("memory:");
  let full = false;
  let beats = 0;
  const beat: Ledger["owners"]["beat"] = async (...args) => {
    beats += 1;
    if (full) throw new CountersignError("ledger-unreachable", "The disk is full.");
    return ledger.owners.beat(...args);
  };
  const runner = new Runner({
    agent: new Agent({ name: "shop" }),
    ledger: wrapLedger(ledger, { owners: { beat } }),
  });
  releases.push(() => runner.close());
  const app = createApp({ apps: { shop: runner } });
  expect(await ask(app, "/readyz")).toEqual([200, { status: "ok" }]);
  expect(beats).toBe(0);
  full = true;
  await expect(runner.send("hello", { user: "ana" })).rejects.toMatchObject({ code: "ledger-unreachable" });
  expect(await ask(app, "/readyz")).toMatchObject([503, { code: "ledger-unreachable" }]);
  expect(await ask(app, "/healthz")).toEqual([200, { status: "ok" }]);
  full = false;
  expect(await ask(app, "/readyz")).toEqual([200, { status: "ok" }]);
  const before = beats;
  expect(await ask(app, "/readyz")).toEqual([200, { status: "ok" }]);
  expect(beats).toBe(before);
});

test("a process that holds a result which the ledger does not take is alive but not ready", async () => {
  const ledger = await createLedger("memory:");
  let full = false;
  const commit: Ledger["commit"] = async (one) => {
    if (full && !one.sync) throw new CountersignError("ledger-busy", "Locked.");
    return ledger.commit(one);
  };
  const engine = await createEngine({
    ledger: wrapLedger(ledger, { commit }),
    storeWithinMs: 1,
    closeWithinMs: 1,
    onError: () => {},
  });
  const runner = new Runner({ agent: new Agent({ name: "shop" }), engine });
  releases.push(() => engine.close());
  const app = createApp({ apps: { shop: runner }, engine });
  const greet = engine.gate("greet", {}, async () => {
    full = true;
    return "Hello.";
  });
  const greeted = greet({}, { key: "k", by: { id: "ana" } });
  await expect.poll(async () => (await ask(app, "/readyz"))[0]).toBe(503);
  expect(await ask(app, "/readyz")).toMatchObject([503, { code: "ledger-unreachable" }]);
  expect(await ask(app, "/healthz")).toEqual([200, { status: "ok" }]);
  full = false;
  expect(await greeted).toMatchObject({ status: "succeeded" });
  expect(await ask(app, "/readyz")).toEqual([200, { status: "ok" }]);
});
