import { afterEach, beforeEach, expect, test } from "vitest";
import { CountersignError } from "../protocol/index.ts";
import { createLedger } from "../stores/index.ts";
import { Engine } from "./engine.ts";
import type { Ledger } from "./ledger.ts";
import { ManualClock } from "./manual-clock.ts";
import { mortalEngine, until } from "./testing/execution.ts";

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
  const { engine, watched } = mortalEngine(ledger, clock);
  const { promise, resolve } = Promise.withResolvers<string>();
  let entered = 0;
  const slow = engine.gate("slow", {}, () => {
    entered += 1;
    return promise;
  });
  const outcomes = ["a", "b", "c"].map((key) => slow({}, { key, by: ana }));
  await until(clock, () => entered === 3);
  const before = watched.count("beat");
  for (let beats = 0; beats < 10; beats++) {
    await clock.advance(LEASE_MS / 3);
    await clock.advance(0);
  }
  expect(watched.count("beat")).toBe(before + 10);
  resolve("done");
  await Promise.all(outcomes);
  await clock.advance(10 * LEASE_MS);
  expect(watched.count("beat")).toBe(before + 10);
});

test("a call given back unstarted, which then cannot be claimed, is left ready and breaks nothing", async () => {
  const { engine, watched } = mortalEngine(ledger, clock);
  let runs = 0;
  const pay = engine.gate("pay", {}, async () => ++runs);
  const { engine: survivor } = mortalEngine(ledger, clock);
  // The process is stopped after its claim; it wakes when the lease is lost, and then the ledger is away.
  watched.intercept("commit", async (pass) => {
    const outcome = await pass();
    watched.lift("commit");
    await clock.advance(LEASE_MS);
    await survivor.workOnce();
    watched.intercept("commit", async (again, [commit]) => {
      if (JSON.stringify(commit).includes("call-started")) throw new CountersignError("ledger-busy", "away");
      return again();
    });
    return outcome;
  });
  expect((await pay({}, use)).status).toBe("executing");
  watched.lift("commit");
  await engine.workOnce();
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
