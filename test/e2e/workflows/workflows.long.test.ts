import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { command } from "../../../scripts/command.ts";
import { ensurePeer } from "../../../scripts/test-tools.ts";
import { migratePostgres } from "../../../src/stores/postgres/index.ts";
import { execute, PostgresServer } from "../../support/postgres/server.ts";
import { useResources } from "../../support/resources.ts";
import { isRegistered, post, startRestate } from "./restate-server.ts";
import {
  BOSS,
  INSTALLING,
  type Outcome,
  openScene,
  PATIENCE,
  TIME_MS,
  type WorkflowScene,
} from "./workflow-scene.ts";

// Workflows that wait for a person, in real processes that are killed: with DBOS, whose database is the ledger's too, and
// with Restate's own server. One file, because both need the same packages.

const resources = useResources();
let server: PostgresServer | undefined;
let peer = "";

beforeAll(async () => {
  peer = ensurePeer("workflows");
  server = await PostgresServer.start();
}, INSTALLING);

afterAll(() => server?.stop());

async function openDbos(): Promise<WorkflowScene> {
  if (server === undefined) throw new Error("There is no server.");
  const name = `workflows_${crypto.randomUUID().replaceAll("-", "")}`;
  await execute(server.url("postgres"), `create database ${name}`);
  const ledger = server.url(name);
  await migratePostgres(ledger);
  return openScene(resources, { ledger, program: "dbos.ts" });
}

test("the recipes compile with the packages that they are for", { timeout: TIME_MS }, () => {
  expect(command("tsc", ["-p", peer])).toMatchObject({ status: 0, stdout: "" });
});

test("DBOS: a worker that is killed inside the approved step does not pay twice: a person settles it", {
  timeout: TIME_MS,
}, async () => {
  const { engine, entered, start, question } = await openDbos();
  const first = start({ hangs: true });
  const id = await question();
  expect(entered).toEqual([]);
  await engine.approve(id, BOSS);
  await first.line("entered");
  await first.kill();
  const second = start();
  await expect.poll(async () => (await engine.confirmation(id)).status, PATIENCE).toBe("unknown");
  await engine.settle(id, { as: "succeeded", result: { paid: 40 } }, BOSS);
  const { outcome } = await second.line("ended");
  expect(outcome).toEqual({ status: "succeeded", result: { paid: 40 } });
  expect(entered).toHaveLength(1);
});

test("DBOS: an approval that is given while no worker runs is carried out once, by the next one", {
  timeout: TIME_MS,
}, async () => {
  const { engine, entered, start, question } = await openDbos();
  const first = start();
  const id = await question();
  await first.kill();
  await engine.approve(id, BOSS);
  const second = start();
  const { outcome } = await second.line("ended");
  expect(outcome).toEqual({ status: "succeeded", result: { paid: 40 } });
  await second.kill();
  // The workflow is over: another start gives its outcome, and nothing runs.
  expect((await start().line("ended")).outcome).toEqual(outcome);
  expect(entered).toHaveLength(1);
});

test("DBOS: a denial ends the workflow, and nothing was paid", { timeout: TIME_MS }, async () => {
  const { engine, entered, start, question } = await openDbos();
  const worker = start();
  await engine.deny(await question(), { ...BOSS, reason: "too late" });
  const { outcome } = await worker.line("ended");
  expect(outcome).toEqual({ status: "denied", reason: "too late" });
  expect(entered).toEqual([]);
});

test("Restate: a service that is killed inside the approved step is called again, and does not pay twice", {
  timeout: TIME_MS,
}, async () => {
  const { ingress, admin } = await startRestate(resources, peer);
  const ledger = `sqlite:${join(await resources.folder(), "ledger.db")}`;
  const { engine, entered, start, question } = await openScene(resources, { ledger, program: "restate.ts" });
  const first = start({ hangs: true });
  const { port } = await first.line("listening");
  await expect.poll(() => isRegistered(admin, port), PATIENCE).toBe(true);
  const order = { order: "order-17", amount: 40 };
  const answered = post(`${ingress}/orders/refund`, order, { "idempotency-key": "order-17" });
  const id = await question();
  await engine.approve(id, BOSS);
  await first.line("entered");
  await first.kill();
  await start({ port }).line("listening");
  await expect.poll(async () => (await engine.confirmation(id)).status, PATIENCE).toBe("unknown");
  await engine.settle(id, { as: "succeeded", result: { paid: 40 } }, BOSS);
  const outcome = (await (await answered).json()) as Outcome;
  expect(outcome).toEqual({ status: "succeeded", result: { paid: 40 } });
  expect(entered).toHaveLength(1);
});
