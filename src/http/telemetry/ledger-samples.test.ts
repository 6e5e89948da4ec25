import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { giveUp } from "../../../test/support/ledger/failed-delivery.ts";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { Engine, type Ledger, ManualClock } from "../../engine/index.ts";
import { tryApprove } from "../../engine/testing/try-decide.ts";
import { createLedger } from "../../stores/index.ts";
import type { MetricName } from "./catalog.ts";
import { readLedgerSamples } from "./ledger-samples.ts";

const MINUTE_MS = 60_000;
const releases: (() => unknown)[] = [];
afterEach(async () => {
  for (let release = releases.pop(); release !== undefined; release = releases.pop()) await release();
});

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-metrics-"));
  releases.push(() => rmSync(folder, { recursive: true }));
  return `sqlite:${join(folder, "ledger.db")}`;
}

async function open(url: string, clock: ManualClock): Promise<{ engine: Engine; ledger: Ledger }> {
  const ledger = await createLedger(url, { clock });
  const engine = new Engine({ ledger, clock });
  releases.push(() => engine.close());
  return { engine, ledger };
}

/** The metric's values by their labels. */
async function look(ledger: Ledger, metric: MetricName): Promise<Record<string, unknown>> {
  const samples = (await readLedgerSamples(ledger))(metric);
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(" "), value]));
}

const by = { id: "boss" };

function refundGate(engine: Engine) {
  return engine.gate("refund", { requireConfirmation: true }, async () => "sent");
}

async function ask(refund: ReturnType<typeof refundGate>, key: string): Promise<string> {
  const outcome = await refund({}, { key, by: { id: "ana" } });
  if (outcome.status !== "pending") throw new Error(`it is ${outcome.status}`);
  return outcome.confirmation.id;
}

test("what was asked, decided and run is counted, by verdict, `via` and outcome", async () => {
  const clock = new ManualClock();
  const { engine, ledger } = await open("memory:", clock);
  const refund = refundGate(engine);
  const [one, two, three] = [await ask(refund, "1"), await ask(refund, "2"), await ask(refund, "3")];
  await clock.advance(2 * MINUTE_MS);
  const approved = await tryApprove(engine, one ?? "", { by, via: "api" });
  if (approved.ok) await approved.finished;
  await engine.deny(two ?? "", { by, via: "cli" });
  expect(await look(ledger, "confirmations")).toEqual({ requested: 3, approved: 1, denied: 1 });
  expect(await look(ledger, "decisions")).toEqual({ "approved api": 1, "denied cli": 1 });
  expect(await look(ledger, "calls")).toEqual({ succeeded: 1 });
  expect(await look(ledger, "pending")).toEqual({ "": 1 });
  expect(await look(ledger, "unknownCalls")).toEqual({ "": 0 });
  // 120 s fall into the bucket up to 300.
  const tookTwoMinutes = { counts: [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], sum: 120 };
  expect(await look(ledger, "decisionSeconds")).toEqual({ approved: tookTwoMinutes, denied: tookTwoMinutes });
  expect(await look(ledger, "startSeconds")).toEqual({ "": { counts: [1, 0, 0, 0, 0, 0, 0, 0, 0], sum: 0 } });
  expect(three).toBeDefined();
});

test("counting goes on after a restart, and nothing is counted twice however often somebody looks", async () => {
  const clock = new ManualClock();
  const url = newFile();
  const first = await open(url, clock);
  await ask(refundGate(first.engine), "1");
  expect(await look(first.ledger, "confirmations")).toEqual({ requested: 1 });
  await first.engine.close();
  releases.pop();
  const [second, third] = [await open(url, clock), await open(url, clock)];
  await ask(refundGate(second.engine), "2");
  const looks = await Promise.all(
    [second, third, second, third].map(({ ledger }) => look(ledger, "confirmations")),
  );
  for (const seen of looks) expect(seen).toEqual({ requested: 2 });
  expect(await look(third.ledger, "confirmations")).toEqual({ requested: 2 });
});

test("an approved call that nobody takes up for a minute is said to have no host", async () => {
  const clock = new ManualClock();
  const url = newFile();
  const asking = await open(url, clock);
  const id = await ask(refundGate(asking.engine), "1");
  const elsewhere = await open(url, clock);
  expect(await tryApprove(elsewhere.engine, id, { by })).toMatchObject({ ok: true });
  await clock.advance(MINUTE_MS - 1);
  expect(Object.values(await look(elsewhere.ledger, "unrunnable"))).toEqual([0]);
  await clock.advance(1);
  expect(Object.values(await look(elsewhere.ledger, "unrunnable"))).toEqual([1]);
  await asking.engine.work({ once: true });
  expect(Object.values(await look(elsewhere.ledger, "unrunnable"))).toEqual([0]);
  expect(await look(elsewhere.ledger, "startSeconds")).toEqual({
    "": { counts: [0, 0, 0, 0, 0, 0, 1, 0, 0], sum: 60 },
  });
});

test("a journal longer than one page is counted to its end", async () => {
  const clock = new ManualClock();
  const { engine, ledger } = await open("memory:", clock);
  const refund = refundGate(engine);
  for (let i = 0; i < 620; i++) await ask(refund, String(i));
  expect(await look(ledger, "confirmations")).toEqual({ requested: 620 });
  expect(await look(ledger, "pending")).toEqual({ "": 620 });
});

test("failed deliveries are counted by channel, also of channels that no process has any more", async () => {
  const { ledger } = await open("memory:", new ManualClock());
  expect(await look(ledger, "failedDeliveries")).toEqual({});
  await giveUp(ledger, { channel: "webhook", seqs: [1, 2] });
  await giveUp(ledger, { channel: "pager", seqs: [1] });
  expect(await look(ledger, "failedDeliveries")).toEqual({ pager: 1, webhook: 2 });
  await ledger.outbox.reviveDelivery("pager", 1);
  expect(await look(ledger, "failedDeliveries")).toEqual({ webhook: 2 });
});

test("a ledger that keeps connections is asked how they are; one that keeps none has no such metrics", async () => {
  const { ledger } = await open("memory:", new ManualClock());
  expect(await look(ledger, "connections")).toEqual({});
  const pool = { size: 10, open: 7, idle: 4, waiting: 2 };
  const pooled = wrapLedger(ledger, {
    stats: () => ({ pool, statements: 900, retries: 3, reconnects: 1 }),
  });
  expect(await look(pooled, "connectionsLimit")).toEqual({ "": 10 });
  expect(await look(pooled, "connections")).toEqual({ busy: 3, idle: 4 });
  expect(await look(pooled, "connectionWaiters")).toEqual({ "": 2 });
  expect(await look(pooled, "statements")).toEqual({ "": 900 });
  expect(await look(pooled, "retries")).toEqual({ conflict: 3, connection: 1 });
});
