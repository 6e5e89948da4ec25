import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkStandbys } from "../../src/cli/doctor/check-standbys.ts";
import type { Engine, FoundStandby, Ledger } from "../../src/engine/index.ts";
import { type App, createApp, createAuth, Metrics, Tokens } from "../../src/http/index.ts";
import { createEngine, createLedger } from "../../src/index.ts";
import { migratePostgres } from "../../src/stores/postgres/index.ts";
import { connect } from "../support/postgres/database.ts";
import { execute } from "../support/postgres/server.ts";
import { Resources } from "../support/resources.ts";
import { Server } from "./server.ts";

const DATABASE = "ledger";
const OTHER = "other";
const ORIGIN = "https://approvals.test";

interface Page {
  readonly items: readonly { readonly id: string; readonly seq: number; readonly status: string }[];
  readonly asOf?: string;
  readonly next?: string;
}

/** A server whose lists may be read from a standby, and people with tokens. The tests follow each other. */
interface Scene {
  readonly primary: Server;
  readonly standby: Server;
  readonly engine: Engine;
  readonly app: App;
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  readonly warnings: string[];
  readonly boss: string;
  ask(key: string): Promise<string>;
}

const resources = new Resources();
let scene: Scene;

beforeAll(async () => {
  scene = await begin();
}, 120_000);
afterAll(() => resources.release(), 60_000);

async function begin(): Promise<Scene> {
  const [primary, standby] = [await Server.prepare(resources), await Server.prepare(resources)];
  await primary.init();
  for (const name of [DATABASE, OTHER]) {
    await primary.ask(`create database ${name}`);
    await migratePostgres(primary.url(name));
  }
  await standby.follow(primary, primary.port);
  await primary.untilFollowed("async");
  const ledger = await createLedger(primary.url(DATABASE), { readUrl: standby.url(DATABASE) });
  const engine = await createEngine({ ledger });
  resources.add(() => engine.close());
  const asking = { requireConfirmation: true, approvers: { users: ["boss"] } } as const;
  const pay = engine.gate("pay", asking, async (_args: { to: string }) => "paid");
  const metrics = new Metrics();
  const warnings: string[] = [];
  const auth = await createAuth({ mode: "tokens", ledger, publicUrl: ORIGIN });
  const logger = { info() {}, error() {}, warn: (_facts: object, message: string) => warnings.push(message) };
  const app = createApp({ apps: {}, engine, auth, publicUrl: ORIGIN, metrics, logger });
  const tokens = new Tokens(ledger.items, Date.now);
  const made = await tokens.create({
    user: "boss",
    roles: [],
    scopes: ["read", "decide", "admin"],
    createdBy: "test",
  });
  const ask = async (key: string): Promise<string> => {
    const outcome = await pay({ to: "landlord" }, { key, by: { id: "ana" } });
    return outcome.status === "pending" ? outcome.confirmation.id : "";
  };
  // With the first claim the ledger notes which server it is on.
  await engine.approve(await ask("before"), { by: { id: "boss" } });
  return {
    primary,
    standby,
    engine,
    app,
    tokens,
    metrics,
    warnings,
    boss: made.secret,
    ask,
  };
}

async function send(path: string, secret = scene.boss, body?: object): Promise<Response> {
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  return scene.app.fetch(new Request(`${ORIGIN}${path}`, { headers, ...sent }));
}

async function read(path: string): Promise<Page> {
  const answer = await send(path);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Page;
}

/** Reads until a standby has everything that was committed before. */
async function readFromStandby(path: string): Promise<Page & { readonly asOf: string }> {
  for (;;) {
    const page = await read(path);
    if (page.asOf !== undefined) return { ...page, asOf: page.asOf };
    await setTimeout(20);
  }
}

function idsIn({ items }: Page): readonly string[] {
  return items.map(({ id }) => id);
}

async function asPaused<T>(work: () => Promise<T>): Promise<T> {
  await scene.standby.ask("select pg_wal_replay_pause()");
  try {
    while (!(await isPaused())) await setTimeout(20);
    return await work();
  } finally {
    await scene.standby.ask("select pg_wal_replay_resume()");
  }
}

async function isPaused(): Promise<boolean> {
  const paused = "select 1 where pg_get_wal_replay_pause_state() = 'paused'";
  const [found] = await execute(scene.standby.url(DATABASE), paused);
  return found?.rowCount === 1;
}

/** What `doctor` says of the standby. */
function examined(): ReturnType<typeof checkStandbys> {
  return checkStandbys(scene.primary.url(DATABASE), scene.standby.url(DATABASE));
}

function countOf(outcome: string): number {
  const found = scene.metrics.samples("listReads").find(({ labels }) => labels["outcome"] === outcome);
  return typeof found?.value === "number" ? found.value : 0;
}

test("a standby that has caught up answers lists as the primary does, and says as of when", async () => {
  const id = await scene.ask("first");
  const open = await readFromStandby("/v1/confirmations");
  expect(idsIn(open)).toEqual([id]);
  expect(Date.parse(open.asOf)).toBeGreaterThan(Date.now() - 60_000);
  expect((await readFromStandby("/v1/audit")).items.length).toBeGreaterThan(0);
  const numbers = await readFromStandby("/v1/stats");
  expect(numbers).toMatchObject({ waiting: { count: 1 }, total: { asked: 2 } });
  // What acts on one, or writes first, is not read there.
  expect(await (await send(`/v1/confirmations/${id}`)).json()).not.toHaveProperty("asOf");
  expect(await read("/v1/confirmations?q=pay")).not.toHaveProperty("asOf");
  expect(countOf("standby")).toBeGreaterThanOrEqual(3);
  while ((await examined())[0]?.status !== "ok") await setTimeout(20);
});

test("one that is behind shows old rows only to who allows it; a decision on one is refused as ever", async () => {
  const id = await scene.ask("second");
  const before = await readFromStandby("/v1/confirmations");
  expect(idsIn(before)).toContain(id);
  expect(await readFromStandby("/v1/stats")).toMatchObject({ total: { asked: 3, approved: 1 } });
  await asPaused(async () => {
    const decision = `/v1/confirmations/${id}/decision`;
    expect((await send(decision, scene.boss, { confirmed: true })).status).toBe(200);
    // Whoever has decided does not see it open again, on whatever device.
    const now = await read("/v1/confirmations");
    expect(now).not.toHaveProperty("asOf");
    expect(idsIn(now)).not.toContain(id);
    const old = await read("/v1/confirmations?maxAge=30");
    expect(idsIn(old)).toContain(id);
    expect(old.asOf).toBeDefined();
    expect(Date.parse(old.asOf ?? "")).toBeGreaterThanOrEqual(Date.parse(before.asOf));
    expect(await read("/v1/stats")).toMatchObject({ total: { approved: 2 } });
    // The days are the standby's too, not only what waits.
    const earlier = await read("/v1/stats?maxAge=30");
    expect(earlier).toMatchObject({ waiting: { count: 2 }, total: { approved: 1 } });
    expect(earlier.asOf).toBeDefined();
    const again = await send(decision, scene.boss, { confirmed: false });
    expect([again.status, await again.json()]).toMatchObject([409, { code: "already-decided" }]);
    expect(countOf("behind")).toBeGreaterThan(0);
    expect(scene.warnings.filter((warning) => warning.includes("behind"))).toHaveLength(1);
  });
  expect(idsIn(await readFromStandby("/v1/confirmations"))).not.toContain(id);
});

test("logins and sight are the primary's: a revoked token reads nothing of an old standby", async () => {
  const { token, secret } = await scene.tokens.create({
    user: "ana",
    roles: [],
    scopes: ["read"],
    createdBy: "test",
  });
  await readFromStandby("/v1/confirmations");
  expect((await send("/v1/confirmations", secret)).status).toBe(200);
  await asPaused(async () => {
    await scene.tokens.revoke(token.id, "test");
    for (const path of ["/v1/confirmations", "/v1/audit?confirmation=x", "/v1/stats"])
      expect((await send(`${path}${path.includes("?") ? "&" : "?"}maxAge=30`, secret)).status).toBe(401);
  });
});

test("the journal of a standby ends where nothing is on its way, and goes on from there", async () => {
  await readFromStandby("/v1/audit");
  const others = await connect(resources, scene.primary.url(DATABASE));
  await others.query("begin; select countersign.hold_place(); select nextval('countersign.log_seq')");
  const before = await read("/v1/audit?limit=200");
  const id = await scene.ask("third");
  await scene.engine.deny(id, { by: { id: "boss" } });
  const held = await readFromStandby("/v1/audit?limit=200");
  expect(held.items).toEqual(before.items);
  await others.query("rollback");
  const rest = await readFromStandby(`/v1/audit?limit=200&after=${held.items.at(-1)?.seq}`);
  expect(rest.items.length).toBeGreaterThan(1);
  const all = await read("/v1/audit?limit=200");
  expect([...held.items, ...rest.items]).toEqual(all.items);
});

test("another ledger in its place is refused when the ledger is opened, and a URL that cannot be read", async () => {
  const url = scene.primary.url(DATABASE);
  for (const name of [OTHER, "postgres"]) {
    const readUrl = scene.standby.url(name);
    await expect(createLedger(url, { readUrl })).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringContaining("has another ledger, or none") as unknown,
    });
    expect(await checkStandbys(url, readUrl)).toMatchObject([{ status: "fail" }]);
  }
  await expect(createLedger(url, { readUrl: "postgres://a b:1/x" })).rejects.toMatchObject({
    code: "invalid-option",
  });
});

test("a standby that is killed is replaced by the primary, and read again when it is back", async () => {
  await readFromStandby("/v1/confirmations");
  await scene.standby.kill();
  const pages = await Promise.all([
    read("/v1/confirmations?maxAge=30"),
    read("/v1/confirmations"),
    read("/v1/audit"),
  ]);
  for (const page of pages) expect(page).not.toHaveProperty("asOf");
  expect(countOf("unreachable") + countOf("failed")).toBeGreaterThan(0);
  expect(await examined()).toMatchObject([
    { status: "warn", message: expect.stringContaining("cannot be read") as unknown },
  ]);
  // A ledger is opened without it, too.
  const opened = await createLedger(scene.primary.url(DATABASE), { readUrl: scene.standby.url(DATABASE) });
  expect(await opened.standbys?.find(0)).toBe("unreachable");
  await opened.close();
  await scene.standby.start();
  await readFromStandby("/v1/confirmations");
  // Of several, the one that answers.
  const readUrl = scene.standby.url(DATABASE).replace("@", "@127.0.0.1:1,");
  const several = await createLedger(scene.primary.url(DATABASE), { readUrl });
  await foundIn(several);
  await several.close();
});

test("nothing is written there, and a standby that was promoted is not read", async () => {
  const found = await foundIn(scene.engine.ledger);
  const writer = found.lists as Ledger;
  const write = async (): Promise<void> => {
    await writer.items.put({ kind: "test", id: "x", value: 1 }, 0);
  };
  const refused = { message: expect.stringContaining("read-only") as unknown };
  await expect(write()).rejects.toMatchObject(refused);
  await scene.standby.promote();
  await expect(write()).rejects.toMatchObject(refused);
  const id = await scene.ask("last");
  for (const path of ["/v1/confirmations", "/v1/confirmations?maxAge=30"]) {
    const page = await read(path);
    expect(page).not.toHaveProperty("asOf");
    expect(idsIn(page)).toContain(id);
  }
  expect(countOf("promoted")).toBeGreaterThan(0);
  expect(await examined()).toMatchObject([
    { status: "warn", message: expect.stringContaining("is not a standby") as unknown },
  ]);
});

async function foundIn(ledger: Ledger): Promise<FoundStandby> {
  for (;;) {
    const found = await ledger.standbys?.find(0);
    if (typeof found === "object") return found;
    await setTimeout(20);
  }
}
