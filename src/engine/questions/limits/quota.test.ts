import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../../stores/index.ts";
import { ManualClock } from "../../common/manual-clock.ts";
import { Engine } from "../../engine.ts";
import { partsOf, receiveMessage, recordTurn } from "../../index.ts";
import { ask, hostOf, message, modelSays, planned, pumped, toolOf, watch } from "../../testing/execution.ts";
import type { QuotaLimits } from "./quota.ts";

const bot = { id: "bot" };
const OVER = { code: "over-quota" };

let clock: ManualClock;
let watched: ReturnType<typeof watch>;
let engines: Engine[];

beforeEach(async () => {
  clock = new ManualClock();
  watched = watch(await createLedger("memory:", { clock }));
  engines = [];
});

afterEach(async () => {
  for (const engine of engines) await engine.close();
});

function engineWith(quota: QuotaLimits): Engine {
  const engine = new Engine({ ledger: watched.ledger, clock, quota });
  engines.push(engine);
  return engine;
}

/** The next commits are refused, as if others were always first. */
function refuseCommits(times: number): void {
  let left = times;
  watched.intercept("commit", (pass) => {
    left -= 1;
    return left < 0 ? pass() : Promise.resolve({ ok: false, conflict: "version" });
  });
}

function propose(engine: Engine, key: string, tool = "refund") {
  const call = { app: "shop", tool, args: {}, key, by: bot, requireConfirmation: true };
  return pumped(clock, engine.callers.propose(call));
}

test("a command that is tried again takes room once", async () => {
  const engine = engineWith({ pending: 2, sessions: 2 });
  refuseCommits(5);
  expect(await propose(engine, "k1")).toMatchObject({ status: "pending" });
  expect(await propose(engine, "k2")).toMatchObject({ status: "pending" });
  await expect(propose(engine, "k3")).rejects.toMatchObject(OVER);
});

test("a command that fails gives its room back at once", async () => {
  const engine = engineWith({ pending: 1, sessions: 1 });
  const lost = new Error("the disk is full");
  watched.intercept("commit", () => Promise.reject(lost));
  await expect(propose(engine, "k1")).rejects.toBe(lost);
  watched.lift("commit");
  expect(await propose(engine, "k2")).toMatchObject({ status: "pending" });
});

test("a count forgets nothing that is under way", async () => {
  const engine = engineWith({ pending: 1 });
  const [reached, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  watched.intercept("commit", async (pass) => {
    reached.resolve();
    await go.promise;
    return pass();
  });
  const first = propose(engine, "k1");
  await reached.promise;
  // Old enough to be counted again.
  await clock.advance(6_000);
  await expect(propose(engine, "k2")).rejects.toMatchObject(OVER);
  go.resolve();
  expect(await first).toMatchObject({ status: "pending" });
});

test("a refused proposal leaves its key free for another call", async () => {
  const engine = engineWith({ pending: 1 });
  const { id = "" } = (await propose(engine, "k1")).confirmation ?? {};
  await expect(propose(engine, "k2")).rejects.toMatchObject(OVER);
  await engine.deny(id, { by: bot });
  await clock.advance(6_000);
  expect(await propose(engine, "k2", "other")).toMatchObject({ status: "pending" });
});

test("a turn that is tried again asks as many questions as there is room for", async () => {
  const engine = engineWith({ pending: 2 });
  engine.host(hostOf("bank", { pay: toolOf(() => "paid") }));
  const session = { app: "bank", user: "ana", id: "s1" };
  const received = await receiveMessage(partsOf(engine), message(session, "pay"));
  if (!received.ok) throw new Error(received.code);
  refuseCommits(5);
  const calls = ["c1", "c2", "c3"].map((id) => planned(id, "pay", ask()));
  const event = modelSays("paying");
  const turn = await pumped(clock, recordTurn(partsOf(engine), received.frame, { event, calls }));
  expect(turn?.calls.map(({ status }) => status)).toEqual(["waiting", "waiting", "failed"]);
});

test("a call that runs may ask, whatever the quota: it has begun", async () => {
  const engine = engineWith({ pending: 1 });
  const pay = engine.gate("pay", {}, async (_args, { confirm }) => {
    await confirm("sum", { hint: "Sure?" });
    return "paid";
  });
  await propose(engine, "k1");
  expect(await pumped(clock, pay({}, { key: "k2", by: bot }))).toMatchObject({ status: "pending" });
});
