import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { GatedFunction } from "../gate/gate.ts";
import type { Host } from "../host.ts";
import { partsOf, receiveMessage, recordTurn } from "../index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  ask,
  hostOf,
  type KillableEngine,
  killableEngine,
  message,
  modelSays,
  planned,
  settle,
  until,
} from "../testing/execution.ts";
import type { Worker, WorkOptions } from "./worker.ts";

const SWEEP_MS = 3_000;
const BREATH_MS = 20;
const ana = { id: "ana" };

let clock: ManualClock;
let ledger: Ledger;
let own: KillableEngine;
let pay: GatedFunction<object, number>;
let runs: number;
let worker: Worker | undefined;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  own = killableEngine(ledger, clock);
  runs = 0;
  pay = own.engine.gate("pay", { requireConfirmation: true, expiresInMs: 60_000 }, async () => ++runs);
});

afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await ledger.close();
});

/** Starts the worker and lets its first looks pass. */
async function work(options: WorkOptions = {}): Promise<void> {
  worker = own.engine.work(options);
  await quiet();
}

/** Lets the worker do what it was woken for, and go back to sleep. */
async function quiet(): Promise<void> {
  for (let look = 0; look < 5; look++) {
    await settle(clock, 5);
    await clock.advance(BREATH_MS);
  }
  await settle(clock, 5);
}

function looks(): number {
  return own.watched.count("due");
}

async function open(key: string, tool = pay): Promise<string> {
  const outcome = await tool({}, { key, by: ana });
  if (outcome.status !== "pending") throw new Error(outcome.status);
  return outcome.confirmation.id;
}

/** Calls whose app this process does not host yet, decided where nobody can run them. */
async function approveElsewhere(
  app: string,
  count: number,
  decide: "approve" | "deny" = "approve",
): Promise<void> {
  const elsewhere = new Engine({ ledger, clock });
  elsewhere.host(hostOf(app, {}, async () => {}));
  for (let n = 0; n < count; n++) {
    const outcome = await receiveMessage(
      partsOf(elsewhere),
      message({ app, user: "ana", id: `s${n}` }, "pay"),
    );
    if (!outcome.ok) throw new Error(outcome.message);
    const turn = await recordTurn(partsOf(elsewhere), outcome.frame, {
      event: modelSays("ok"),
      calls: [planned("c1", "pay", ask())],
    });
    await new Engine({ ledger, clock })[decide](turn?.asked[0]?.confirmation.id ?? "", { by: ana });
  }
}

describe("a worker", () => {
  test("that finds nothing looks again only after its interval", async () => {
    await work();
    const before = looks();
    await clock.advance(SWEEP_MS - 1 - 5 * BREATH_MS);
    await settle(clock);
    expect(looks()).toBe(before);
    await clock.advance(1 + 5 * BREATH_MS);
    await settle(clock);
    expect(looks()).toBe(before + 1);
    await clock.advance(10 * SWEEP_MS);
    await settle(clock);
    expect(looks()).toBe(before + 2);
  });

  test("tidies the ledger and its memory now and then, not at every look", async () => {
    const forgetOld = vi.spyOn(partsOf(own.engine).executions, "forgetOld");
    await work();
    for (let sweep = 0; sweep < 21; sweep++) {
      await clock.advance(SWEEP_MS);
      await settle(clock, 3);
    }
    expect(looks()).toBeGreaterThan(20);
    expect(own.watched.count("tidy")).toBe(2);
    expect(forgetOld).toHaveBeenCalledTimes(2);
  });

  test("looks as often as it is told to", async () => {
    await work({ sweepMs: 100 });
    const before = looks();
    for (let sweep = 0; sweep < 10; sweep++) {
      await clock.advance(100);
      await settle(clock, 3);
    }
    expect(looks()).toBe(before + 10);
  });

  test("wakes for a change, and runs a call that was approved in another process", async () => {
    const id = await open("k");
    await work();
    await new Engine({ ledger, clock }).approve(id, { by: ana });
    await quiet();
    expect(runs).toBe(1);
    expect(await pay({}, { key: "k", by: ana })).toEqual({ status: "succeeded", result: 1 });
  });

  test("takes a breath between looks, however many changes there are", async () => {
    await work();
    const before = looks();
    for (let n = 0; n < 50; n++) await open(`k${n}`);
    await settle(clock, 20);
    expect(looks()).toBeLessThanOrEqual(before + 2);
  });

  test("wakes at the next deadline, and not at each of a thousand", async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => open(`k${n}`)));
    await work({ sweepMs: 1_000_000 });
    const before = looks();
    await clock.advance(59_000 - 5 * BREATH_MS);
    await settle(clock);
    expect(looks()).toBe(before);
    await clock.advance(1_000);
    await quiet();
    const closed = await ledger.confirmations({ state: "closed" }, { limit: 100 });
    expect(closed.items.map(({ confirmation }) => confirmation.status)).toEqual(ids.map(() => "expired"));
    expect(looks()).toBeLessThan(before + 6);
  });

  test("expires without being asked, also after a restart, and also what it does not host", async () => {
    const id = await open("k");
    own.crash();
    const next = new Engine({ ledger, clock });
    await clock.advance(120_000);
    const other = next.work();
    await until(
      clock,
      async () => (await ledger.load({ confirmation: id }))?.confirmation?.status === "expired",
    );
    await other.stop();
    expect(runs).toBe(0);
  });

  test("works through more than one batch without waiting in between", async () => {
    for (let n = 0; n < 250; n++) await open(`k${n}`);
    await clock.advance(60_000);
    await work({ sweepMs: 1_000_000 });
    expect((await ledger.confirmations({ state: "open" })).items).toEqual([]);
  });

  test("does not run in circles over a batch that it cannot do", async () => {
    await approveElsewhere("bank", 100, "deny");
    // This process has the app's tools, and nothing to step its frames with.
    own.engine.host(hostOf("bank", {}));
    own.watched.intercept("due", (pass) => (looks() > 50 ? new Promise(() => {}) : pass()));
    await work();
    expect(looks()).toBeLessThan(10);
  });

  test("reaches a call behind more than a batch that cannot run now, and does not try those at each change", async () => {
    const down = new Error("the server is down");
    let looked = 0;
    const broken: Host = { app: "broken", tool: () => Promise.reject((looked++, down)) };
    await approveElsewhere("broken", 120);
    own.engine.host(broken);
    await work();
    expect(looked).toBe(120);
    const id = await open("late");
    await new Engine({ ledger, clock }).approve(id, { by: ana });
    await quiet();
    expect([runs, looked]).toEqual([1, 120]);
    await clock.advance(SWEEP_MS);
    await quiet();
    expect(looked).toBe(240);
  });

  test("does not wait for tools that are looked for at length", async () => {
    await approveElsewhere("silent", 120);
    const { promise, reject } = Promise.withResolvers<undefined>();
    own.engine.host({ app: "silent", tool: () => promise });
    await work();
    const id = await open("late");
    await new Engine({ ledger, clock }).approve(id, { by: ana });
    for (let second = 0; second < 4; second++) {
      await clock.advance(1_000);
      await quiet();
    }
    reject(new Error("no answer"));
    expect(runs).toBe(1);
  });

  test("sees what is urgent during a walk through much work, and tries only so much at a time", async () => {
    await approveElsewhere("silent", 300);
    let [looked, swept, recovered] = [0, 0, 0];
    const { promise, reject } = Promise.withResolvers<undefined>();
    const sweep = async (): Promise<void> => void swept++;
    own.engine.host({ app: "silent", tool: () => (looked++, promise), sweep });
    own.engine.gate("slow", { idempotent: true }, async () => ++recovered);
    const doomed = killableEngine(ledger, clock);
    let held = "";
    const slow = doomed.engine.gate("slow", { idempotent: true }, (_args, { idempotencyKey }) => {
      held = idempotencyKey;
      return new Promise<never>(() => {});
    });
    slow({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, () => held !== "");
    const options = { requireConfirmation: true, expiresInMs: 1_000 };
    const brief = own.engine.gate("brief", options, async () => 0);
    const expiring = await open("k", brief);
    await work();
    doomed.crash();
    const [{ owner = "" } = {}] = await ledger.calls([held]);
    await ledger.owners.retire(owner);
    await clock.advance(1_000);
    await quiet();
    expect((await ledger.load({ confirmation: expiring }))?.confirmation?.status).toBe("expired");
    expect(recovered).toBe(1);
    for (let second = 0; second < 5; second++) {
      await clock.advance(1_000);
      await quiet();
    }
    expect([looked, swept]).toEqual([200, 2]);
    await new Engine({ ledger, clock }).approve(await open("late"), { by: ana });
    await quiet();
    expect(runs).toBe(0);
    // A server that never answers does not keep the others waiting.
    for (let second = 0; second < 58; second++) {
      await clock.advance(1_000);
      await settle(clock, 5);
    }
    reject(new Error("no answer"));
    expect([looked, runs]).toEqual([300, 1]);
  });

  test("goes on while a sweep of one app hangs, and does not start that one again", async () => {
    let [hung, swept] = [0, 0];
    const { promise, resolve } = Promise.withResolvers<undefined>();
    own.engine.host({ app: "hangs", tool: async () => undefined, sweep: () => (hung++, promise) });
    own.engine.host({ app: "works", tool: async () => undefined, sweep: async () => void swept++ });
    const expiring = await open("k");
    await work();
    for (let second = 0; second < 61; second++) {
      await clock.advance(1_000);
      await settle(clock, 5);
    }
    expect((await ledger.load({ confirmation: expiring }))?.confirmation?.status).toBe("expired");
    expect(hung).toBe(1);
    expect(swept).toBeGreaterThan(10);
    resolve(undefined);
  });

  test("reaches frames behind more than a batch that cannot be stepped here", async () => {
    await approveElsewhere("bank", 120, "deny");
    await approveElsewhere("shop", 30, "deny");
    own.engine.host(hostOf("bank", {}));
    const stepped: string[] = [];
    own.engine.host(hostOf("shop", {}, async ({ app }) => void stepped.push(app)));
    await work();
    expect(stepped).toHaveLength(30);
  });

  test("reaches an expiry behind more than a batch that fails", async () => {
    for (let n = 0; n < 120; n++) await open(`k${n}`);
    const broken = new Set(
      (await ledger.confirmations({ state: "open" }, { limit: 200 })).items.map(
        ({ confirmation }) => confirmation.id,
      ),
    );
    await clock.advance(1);
    const last = await open("last");
    await clock.advance(60_000);
    own.watched.intercept("load", (pass, [target]) =>
      broken.has((target as { confirmation?: string }).confirmation ?? "")
        ? Promise.reject(new Error("unreadable"))
        : pass(),
    );
    await work({ sweepMs: 1_000_000 });
    expect((await ledger.load({ confirmation: last }))?.confirmation?.status).toBe("expired");
  });

  test("continues after an error, and reports it", async () => {
    const id = await open("k");
    await new Engine({ ledger, clock }).approve(id, { by: ana });
    own.watched.intercept("due", () => {
      own.watched.lift("due");
      throw new Error("the disk is away");
    });
    const errors: unknown[] = [];
    await work({ onError: (error) => errors.push(error) });
    expect(errors).toMatchObject([{ message: "the disk is away" }]);
    await clock.advance(SWEEP_MS);
    await quiet();
    expect(runs).toBe(1);
  });

  test("lets one piece of work that fails not keep it from the others", async () => {
    const ids = [await open("a"), await open("b")];
    await clock.advance(60_000);
    let first = true;
    own.watched.intercept("load", (pass) => {
      if (!first) return pass();
      first = false;
      return Promise.reject(new Error("unreadable"));
    });
    const errors: unknown[] = [];
    await work({ onError: (error) => errors.push(error), sweepMs: 1_000_000 });
    expect(errors).toHaveLength(1);
    const statuses = await Promise.all(ids.map((id) => ledger.load({ confirmation: id })));
    expect(
      statuses.filter((snapshot) => snapshot?.confirmation?.status === "expired").length,
    ).toBeGreaterThan(0);
  });

  test("expires questions while the statistics are being counted, and reports an error of counting", async () => {
    const { promise, reject } = Promise.withResolvers<undefined>();
    let counts = 0;
    const get: Ledger["items"]["get"] = (kind, id) =>
      kind === "statistics" ? (counts++, promise) : ledger.items.get(kind, id);
    own = killableEngine(wrapLedger(ledger, { items: { get } }), clock);
    const errors: unknown[] = [];
    await work({ onError: (error) => errors.push(error) });
    await clock.advance(31_000);
    await quiet();
    const id = await open("k");
    await clock.advance(60_000);
    await quiet();
    const { confirmation } = (await ledger.load({ confirmation: id })) ?? {};
    reject(new Error("the disk is away"));
    await quiet();
    expect([confirmation?.status, counts]).toEqual(["expired", 1]);
    expect(errors).toMatchObject([{ message: "the disk is away" }]);
  });

  test("counts all of a long journal for the statistics", async () => {
    for (let n = 0; n < 150; n++) await open(`k${n}`);
    await work({ sweepMs: 1_000_000 });
    await clock.advance(30_000);
    await quiet();
    const place = await ledger.items.get("statistics", "place-1");
    const [next] = await ledger.journal.records({ after: (place?.value ?? 0) as number, limit: 1 });
    expect([place === undefined, next]).toEqual([false, undefined]);
  });

  test("seals the journal now and then, and not at every look", async () => {
    await open("a");
    await work({ sealMs: 5_000 });
    expect(await ledger.journal.lastCheckpoint()).toMatchObject({ k: 1, count: 1 });
    await open("b");
    await quiet();
    expect(await ledger.journal.lastCheckpoint()).toMatchObject({ k: 1 });
    await clock.advance(5_000);
    await quiet();
    expect(await ledger.journal.lastCheckpoint()).toMatchObject({ k: 2, count: 2 });
  });

  test("that is stopped takes no new work, and lets running calls continue", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    let entered = false;
    own.engine.gate("slow", { requireConfirmation: true }, () => {
      entered = true;
      return promise;
    });
    const other = new Engine({ ledger, clock });
    const slow = other.gate("slow", { requireConfirmation: true }, async () => "not here");
    const outcome = await slow({}, { key: "k", by: ana });
    if (outcome.status !== "pending") throw new Error(outcome.status);
    await new Engine({ ledger, clock }).approve(outcome.confirmation.id, { by: ana });
    await work();
    await until(clock, () => entered);
    const late = await open("late");
    await worker?.stop();
    await new Engine({ ledger, clock }).approve(late, { by: ana });
    await clock.advance(10 * SWEEP_MS);
    await settle(clock);
    expect(runs).toBe(0);
    resolve("slow result");
    expect(await own.engine.finished(outcome.callId)).toMatchObject({ result: "slow result" });
  });

  test("can be stopped twice, and started once only", async () => {
    await work();
    const before = looks();
    worker?.start();
    await settle(clock);
    expect(looks()).toBe(before);
    await Promise.all([worker?.stop(), worker?.stop()]);
    await clock.advance(10 * SWEEP_MS);
    await settle(clock);
    expect(looks()).toBe(before);
  });
});

describe("one round of work", () => {
  test("resolves when what it started is done", async () => {
    const id = await open("k");
    await new Engine({ ledger, clock }).approve(id, { by: ana });
    await own.engine.work({ once: true });
    expect(runs).toBe(1);
    expect((await pay({}, { key: "k", by: ana })).status).toBe("succeeded");
  });
});

test("a ledger that refuses to be listened to is reported, and does not end the process", async () => {
  const refusal = new Error("A newer version migrated this ledger.");
  vi.spyOn(ledger, "onChange").mockImplementation(() => {
    throw refusal;
  });
  const errors: unknown[] = [];
  worker = own.engine.work({ onError: (error) => errors.push(error) });
  await quiet();
  expect(errors).toContain(refusal);
  await worker.stop();
});
