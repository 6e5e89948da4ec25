import { afterEach, beforeEach, expect, test } from "vitest";
import { CountersignError } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { SessionCache } from "../frames/index.ts";
import { finishFrame, partsOf, receiveMessage, recordTurn } from "../index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  ask,
  hostOf,
  killableEngine,
  message,
  modelSays,
  planned,
  toolOf,
  until,
} from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";

const LEASE_MS = 15_000;
const ana = { id: "ana" };
const use = { key: "k", by: ana };

let clock: ManualClock;
let ledger: Ledger;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
});

afterEach(async () => {
  await ledger.close();
});

test("heartbeats go on for exactly as long as something runs", async () => {
  const { engine, watched } = killableEngine(ledger, clock);
  const { promise, resolve } = Promise.withResolvers<string>();
  let entered = 0;
  const slow = engine.gate("slow", {}, () => {
    entered += 1;
    return promise;
  });
  const outcomes = ["a", "b", "c"].map((key) => slow({}, { key, by: ana }));
  await until(clock, () => entered === 3);
  const before = watched.count("owners.beat");
  for (let beats = 0; beats < 10; beats++) {
    await clock.advance(LEASE_MS / 3);
    await clock.advance(0);
  }
  expect(watched.count("owners.beat")).toBe(before + 10);
  resolve("done");
  await Promise.all(outcomes);
  await clock.advance(10 * LEASE_MS);
  expect(watched.count("owners.beat")).toBe(before + 10);
});

test("a turn after which the agent still has to speak is not the end, even if nothing more happens here", async () => {
  const { engine } = killableEngine(ledger, clock);
  const answer = { kind: "answer", status: "failed", result: { error: "no such tool" } } as const;
  engine.host(
    hostOf("bank", {}, async (frame) => {
      await recordTurn(partsOf(engine), frame, {
        event: modelSays("hm"),
        calls: [planned("c", "none", answer)],
      });
    }),
  );
  const received = await receiveMessage(
    partsOf(engine),
    message({ app: "bank", user: "ana", id: "s" }, "go"),
  );
  if (!received.ok) throw new Error(received.message);
  partsOf(engine).executions.step(received.frame);
  const cache = await partsOf(engine).executions.settledIn("i1");
  expect(await ledger.events(received.frame.session)).toHaveLength(3);
  expect(cache?.restAfter(1)).toBeUndefined();
  await engine.close();
});

test("a run that was asked about rests with its questions, and one that ended with none", async () => {
  const { engine } = killableEngine(ledger, clock);
  const tool = toolOf(() => "paid");
  engine.host(
    hostOf("bank", { pay: tool }, async (frame) => {
      if (frame.turn > 0)
        await finishFrame(partsOf(engine), frame, { event: modelSays("done"), status: "done" });
      else
        await recordTurn(partsOf(engine), frame, {
          event: modelSays("asking"),
          calls: [planned("c", "pay", ask())],
        });
    }),
  );
  const received = await receiveMessage(
    partsOf(engine),
    message({ app: "bank", user: "ana", id: "s" }, "go"),
  );
  if (!received.ok) throw new Error(received.message);
  partsOf(engine).executions.step(received.frame);
  const paused = (await partsOf(engine).executions.settledIn("i1"))?.restAfter(1);
  const [open] = (await ledger.confirmations({ state: "open", app: "bank" })).items;
  expect(paused?.asked).toMatchObject([{ confirmation: open?.confirmation, call: open?.call }]);
  expect(paused?.events).toEqual((await ledger.events(received.frame.session)).slice(1));
  const decided = await tryApprove(engine, open?.confirmation.id ?? "", { by: ana });
  const rest = (await partsOf(engine).executions.settledIn("i1"))?.restAfter(3);
  expect({ ok: decided.ok, asked: rest?.asked }).toEqual({ ok: true, asked: [] });
  expect(rest?.events).toEqual((await ledger.events(received.frame.session)).slice(3));
  expect(rest?.session).toEqual((await ledger.load({ sessionKey: received.frame.session }))?.session);
  await engine.close();
});

test("a call given back unstarted, which then cannot be claimed, is left ready and breaks nothing", async () => {
  const { engine, watched } = killableEngine(ledger, clock);
  let runs = 0;
  const pay = engine.gate("pay", {}, async () => ++runs);
  const { engine: survivor } = killableEngine(ledger, clock);
  // The process is stopped after its claim; it wakes when the lease is lost, and then the ledger is away.
  watched.intercept("commit", async (pass) => {
    const outcome = await pass();
    watched.lift("commit");
    await clock.advance(LEASE_MS);
    await survivor.work({ once: true });
    watched.intercept("commit", async (again, [commit]) => {
      if (JSON.stringify(commit).includes("call-started")) throw new CountersignError("ledger-busy", "away");
      return again();
    });
    return outcome;
  });
  expect((await pay({}, use)).status).toBe("executing");
  watched.lift("commit");
  await engine.work({ once: true });
  expect(await pay({}, use)).toEqual({ status: "succeeded", result: 1 });
  expect(runs).toBe(1);
});

test("what this process runs is waited for by whoever uses the same key here", async () => {
  const engine = new Engine({ ledger, clock });
  const { promise, resolve } = Promise.withResolvers<string>();
  let entered = false;
  const slow = engine.gate("slow", {}, () => {
    entered = true;
    return promise;
  });
  const first = slow({}, use);
  await until(clock, () => entered);
  const second = slow({}, use);
  resolve("done");
  expect(await Promise.all([first, second])).toEqual([
    { status: "succeeded", result: "done" },
    { status: "succeeded", result: "done" },
  ]);
});

test("how a call ended is not remembered of a session that was erased, nor what was committed with its claim", async () => {
  const { engine } = killableEngine(ledger, clock);
  const pay = engine.gate("pay", {}, async () => "a secret");
  for (const key of ["kept", "erased"]) await pay({}, { key, by: ana });
  const known = () => partsOf(engine).executions.recentClaims();
  expect(known().map(({ claimed }) => claimed.session.id)).toEqual(["kept", "erased"]);
  expect(known().filter(({ claimed }) => claimed.draft !== undefined)).toEqual([]);
  await engine.deleteSession({ app: "gate:pay", user: "gate", id: "erased" }, ana);
  expect(known().map(({ claimed }) => claimed.session.id)).toEqual(["kept"]);
});

test("how a call ended is remembered for two minutes, also if no other call ends", async () => {
  const { engine } = killableEngine(ledger, clock);
  const pay = engine.gate("pay", {}, async () => "a secret");
  await pay({}, use);
  const { executions } = partsOf(engine);
  const [known] = executions.recentClaims();
  const { id = "", attempt = 0 } = known?.claimed.call ?? {};
  await clock.advance(120_000);
  expect(executions.recentClaims()).toHaveLength(1);
  await clock.advance(1);
  expect(executions.recordAgain(id, attempt)).toBe(false);
  expect(executions.recentClaims()).toEqual([]);
});

test("events of a session are kept for its next step for five minutes", async () => {
  const { engine } = killableEngine(ledger, clock);
  const { executions } = partsOf(engine);
  const caches: (SessionCache | undefined)[] = [];
  engine.host(
    hostOf("bank", {}, async (frame) => {
      caches.push(executions.cacheOf(frame.invocation));
      await finishFrame(partsOf(engine), frame, { status: "done", event: modelSays("hi") });
    }),
  );
  const MINUTE_MS = 60_000;
  for (const [n, pause] of [0, 4 * MINUTE_MS, 5 * MINUTE_MS].entries()) {
    await clock.advance(pause);
    const received = await receiveMessage(
      partsOf(engine),
      message({ app: "bank", user: "ana", id: "s1" }, "hello", `i${n}`),
    );
    if (!received.ok) throw new Error(received.message);
    executions.step(received.frame);
    await executions.idle();
  }
  const [first, second, third] = caches;
  expect(second).toBe(first);
  expect(third).toBeInstanceOf(Object);
  expect(third).not.toBe(first);
});

test("events of a session that was erased are not kept for its next step", async () => {
  const { engine, watched } = killableEngine(ledger, clock);
  const name = { app: "bank", user: "ana", id: "s1" };
  const caches: (SessionCache | undefined)[] = [];
  engine.host(
    hostOf("bank", {}, async (frame) => {
      caches.push(partsOf(engine).executions.cacheOf(frame.invocation));
      await finishFrame(partsOf(engine), frame, { status: "done", event: modelSays("a secret") });
      await engine.deleteSession(name, ana);
    }),
  );
  const received = await receiveMessage(partsOf(engine), message(name, "hello"));
  if (!received.ok) throw new Error(received.message);
  partsOf(engine).executions.step(received.frame);
  await partsOf(engine).executions.idle();
  expect(caches.map((cache) => cache?.mayRest)).toEqual([false]);
  expect(watched.count("commit")).toBe(3);
});
