import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { EngineOptions } from "../engine-options.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { watch } from "../testing/execution.ts";
import type { CallRequest } from "./caller-calls.ts";
import type { CallerOutcome } from "./caller-outcome.ts";
import { callKey } from "./key.ts";
import type { OnReady, OnReadyOptions, ReadyNotices } from "./ready-notices.ts";
import { toldToModel } from "./wording.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const bot = { id: "bot", kind: "agent" } as const;
const mine = { by: "bot", key: "t1/c1" };

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;
let ran: JsonObject[];

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
  ran = [];
});

afterEach(async () => {
  await engine.close();
});

function request(more: Partial<CallRequest> = {}): CallRequest {
  return { by: bot, app: "shop", tool: "pay", args: { amount: 40 }, key: mine.key, thread: "t1", ...more };
}

async function pay(args: JsonObject): Promise<JsonObject> {
  ran.push(args);
  return { paid: args["amount"] ?? null };
}

async function approve(outcome: CallerOutcome | undefined, args?: JsonObject): Promise<void> {
  await engine.approve(outcome?.confirmation?.id ?? "", { by: ana, ...(args === undefined ? {} : { args }) });
}

describe("a call that runs in the caller's own process", () => {
  test("is asked without running, runs once it is approved, and once only", async () => {
    const pending = await engine.callers.propose(request());
    expect(pending).toMatchObject({ status: "pending", confirmation: { session: "t1" } });
    expect(await engine.callers.run(request(), pay)).toMatchObject({ status: "pending" });
    expect(ran).toEqual([]);
    await approve(pending);
    const all = await Promise.all([1, 2, 3].map(() => engine.callers.run(request(), pay)));
    expect(all.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(ran).toEqual([{ amount: 40 }]);
    expect(await engine.verify()).toMatchObject({ ok: true });
  });

  test("is not run by the process that approves it, nor by a worker", async () => {
    await approve(await engine.callers.propose(request()));
    await engine.work({ once: true });
    expect(await engine.callers.find(mine)).toMatchObject({ status: "allowed", attempt: 0 });
  });

  test("gets the arguments that an approver changed, and its caller learns which ran", async () => {
    const schema = { type: "object", properties: { amount: { type: "number" } } };
    await approve(await engine.callers.propose(request({ amendable: ["amount"], schema })), { amount: 20 });
    const outcome = await engine.callers.run(request({ amendable: ["amount"], schema }), pay);
    expect(outcome).toMatchObject({
      status: "succeeded",
      args: { amount: 20 },
      amended: true,
      confirmation: { originalArgs: { amount: 40 }, decision: { by: { id: "ana" } } },
    });
    expect(ran).toEqual([{ amount: 20 }]);
    expect(toldToModel(outcome)).toMatchObject({
      ok: true,
      answer: { result: { paid: 20 }, ranWith: { amount: 20 } },
    });
  });

  test("gets the payload of the approval", async () => {
    const pending = await engine.callers.propose(request());
    await engine.approve(pending.confirmation?.id ?? "", { by: ana, payload: { note: "ok" } });
    let payload: unknown;
    await engine.callers.run(request(), async (_args, { toolConfirmation }) => {
      payload = toolConfirmation?.payload;
      return null;
    });
    expect(payload).toEqual({ note: "ok" });
  });

  test("fails with what its function throws", async () => {
    const outcome = await engine.callers.run(request({ requireConfirmation: false }), async () => {
      throw new Error("card declined");
    });
    expect(outcome).toMatchObject({ status: "failed", error: "card declined" });
    expect(toldToModel(outcome)).toEqual({ ok: false, answer: { error: "card declined" } });
  });

  test("does not run if the tool is not what the approver saw; people are asked again", async () => {
    await approve(await engine.callers.propose(request({ description: "Pays." })));
    const changed = request({ description: "Pays twice." });
    const outcome = await engine.callers.run(changed, pay);
    expect(outcome).toMatchObject({
      status: "pending",
      confirmation: { why: [expect.stringContaining("the tool changed"), expect.anything()] },
    });
    await approve(outcome);
    expect(await engine.callers.run(changed, pay)).toMatchObject({ status: "succeeded" });
    expect(ran).toHaveLength(1);
  });

  test("is taken with arguments that its own framework has parsed; the schema is for the approver's", async () => {
    const schema = { type: "object", properties: { amount: { type: "string" } } };
    await expect(engine.callers.propose(request({ schema }))).rejects.toMatchObject({
      code: "arguments-mismatch",
    });
    const parsed = request({ schema, parsed: true, amendable: true });
    const pending = await engine.callers.propose(parsed);
    await expect(approve(pending, { amount: 5 })).rejects.toMatchObject({ code: "arguments-mismatch" });
    await approve(pending);
    expect(await engine.callers.run(parsed, pay)).toMatchObject({ status: "succeeded" });
  });
});

/** A process that starts the call and dies: its lease is not renewed. */
async function startAndDie(options: Partial<EngineOptions> = {}): Promise<void> {
  const { promise: entered, resolve } = Promise.withResolvers<void>();
  const frozen = new ManualClock(clock.now());
  const dead = new Engine({ ledger, ...options, clock: frozen });
  const left = dead.callers.run(request(), () => {
    resolve();
    return new Promise(() => {});
  });
  left.catch(() => {});
  await entered;
}

describe("a call whose process died", () => {
  test("becomes unknown without a worker, and is never started again", async () => {
    await approve(await engine.callers.propose(request()));
    await startAndDie();
    expect(await engine.callers.find(mine)).toMatchObject({ status: "executing" });
    await clock.advance(60_000);
    expect(await engine.callers.find(mine)).toMatchObject({ status: "unknown" });
    expect(await engine.callers.run(request(), pay)).toMatchObject({ status: "unknown" });
    expect(ran).toEqual([]);
  });

  test("ends the wait of whoever waits for it", async () => {
    await approve(await engine.callers.propose(request()));
    await startAndDie();
    const ended: string[] = [];
    const waiting = engine.callers.run(request(), pay).then(({ status }) => void ended.push(status));
    for (let looks = 0; ended.length === 0 && looks < 1_000; looks += 1) await clock.advance(4_000);
    await waiting;
    expect(ended).toEqual(["unknown"]);
  });
});

describe("waiting for a call", () => {
  test("reads the ledger now and then while nothing happens, however long that is", async () => {
    const watched = watch(ledger);
    const here = new Engine({ ledger: watched.ledger, clock });
    const { id } = await here.callers.propose(request());
    const before = watched.count("load");
    const leaving = new AbortController();
    const waiting = here.finished(id, { signal: leaving.signal });
    for (let seconds = 0; seconds < 30; seconds += 1) await clock.advance(1_000);
    expect(watched.count("load") - before).toBeLessThan(15);
    leaving.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  test("finds that a process died also in a ledger that changes all the time", async () => {
    await approve(await engine.callers.propose(request()));
    await startAndDie();
    const ended: string[] = [];
    const waiting = engine.callers.finished(mine).then(({ status }) => void ended.push(status));
    for (let changes = 0; ended.length === 0 && changes < 500; changes += 1) {
      await engine.callers.propose(request({ key: `other-${changes}`, requireConfirmation: false }));
      await clock.advance(500);
    }
    await waiting;
    expect(ended).toEqual(["unknown"]);
  });

  test("ends with the time that is given, at the call as it is then", async () => {
    const { id } = await engine.callers.propose(request());
    const waiting = engine.finished(id, { timeoutMs: 1_000 });
    await clock.advance(1_001);
    expect(await waiting).toMatchObject({ status: "waiting" });
    const callers = engine.callers.finished(mine, { timeoutMs: 0 });
    expect(await callers).toMatchObject({ status: "pending" });
  });

  test("for its decision ends when it may start, and when it is denied", async () => {
    const pending = await engine.callers.propose(request());
    expect(await engine.callers.decided(mine, { timeoutMs: 0 })).toMatchObject({ status: "pending" });
    const waiting = engine.callers.decided(mine);
    await approve(pending);
    expect(await waiting).toMatchObject({ status: "allowed" });
    const other = await engine.callers.propose(request({ key: "other" }));
    const refused = engine.callers.decided({ ...mine, key: "other" });
    await engine.deny(other.confirmation?.id ?? "", { by: ana });
    expect(await refused).toMatchObject({ status: "denied" });
  });

  test("ends with its signal", async () => {
    const { id } = await engine.callers.propose(request());
    const leaving = new AbortController();
    const waiting = engine.finished(id, { signal: leaving.signal });
    leaving.abort(new Error("the client is gone"));
    await expect(waiting).rejects.toThrow("the client is gone");
  });

  test("ends with the call's end", async () => {
    const pending = await engine.callers.propose(request());
    const waiting = engine.callers.finished(mine);
    await engine.deny(pending.confirmation?.id ?? "", { by: ana, reason: "no" });
    expect(await waiting).toMatchObject({ status: "denied", reason: "no" });
  });
});

test("looking up creates nothing", async () => {
  expect(await engine.callers.find(mine)).toBeUndefined();
  expect(await ledger.items.list("call-key")).toMatchObject({ items: [] });
});

describe("a caller that moves on", () => {
  test("withdraws one call, unless it has started", async () => {
    const pending = await engine.callers.propose(request());
    expect(await engine.callers.cancel(mine, "the user moved on")).toMatchObject({
      status: "cancelled",
      reason: "the user moved on",
    });
    await expect(approve(pending)).rejects.toMatchObject({ code: "withdrawn" });
    expect(await engine.callers.run(request(), pay)).toMatchObject({ status: "cancelled" });
    expect(ran).toEqual([]);
  });

  test("withdraws all of a thread: what is asked, and what is approved and has not started", async () => {
    await engine.callers.run(request({ key: "done", requireConfirmation: false }), pay);
    await approve(await engine.callers.propose(request({ key: "approved" })));
    await engine.callers.propose(request({ key: "asked" }));
    await engine.callers.propose(request({ key: "other", thread: "t2" }));
    const thread = { by: "bot", app: "shop", thread: "t1" };
    expect(await engine.callers.cancelThread(thread, "the user moved on")).toBe(2);
    expect(await engine.callers.cancelThread(thread, "the user moved on")).toBe(0);
    const statuses = ["done", "approved", "asked", "other"].map(async (key) => {
      return (await engine.callers.read({ by: "bot", key })).status;
    });
    expect(await Promise.all(statuses)).toEqual(["succeeded", "cancelled", "cancelled", "pending"]);
  });
});

describe("the key of a framework's call", () => {
  test("is another for every thread, id and occurrence", () => {
    expect(callKey("a/b", "c")).not.toBe(callKey("a", "b/c"));
    expect(callKey("a", "b/1")).not.toBe(callKey("a", "b", 1));
  });

  test("is short enough for every ledger", () => {
    expect(callKey("t".repeat(700), "c").length).toBeLessThan(100);
    expect(callKey("t".repeat(700), "c")).not.toBe(callKey("t".repeat(700), "d"));
  });
});

/** Lets everything happen that is due in ten seconds. A ledger in memory waits for nothing but turns of the event loop. */
async function settle(): Promise<void> {
  for (let rounds = 0; rounds < 20; rounds += 1) {
    await clock.advance(500);
    for (let turns = 0; turns < 20; turns += 1) await clock.advance(0);
  }
}

describe("the notice that a turn is ready", () => {
  const notices: ReadyNotices[] = [];
  afterEach(async () => {
    for (const each of notices.splice(0)) await each.stop();
  });

  async function listen(handle: OnReady, more: Partial<OnReadyOptions> = {}): Promise<ReadyNotices> {
    const started = engine.callers.onReady({ app: "shop", ...more }, handle);
    notices.push(started);
    await started.started;
    return started;
  }

  test("comes once, when the last question of the turn is answered", async () => {
    const ready: string[] = [];
    await listen(async ({ thread, turn, by }) => void ready.push(`${by} ${thread} ${turn}`));
    const one = await engine.callers.propose(request({ key: "one", turn: "7" }));
    const two = await engine.callers.propose(request({ key: "two", turn: "7" }));
    await engine.callers.propose(request({ key: "later", turn: "8" }));
    await approve(one);
    await settle();
    expect(ready).toEqual([]);
    await engine.deny(two.confirmation?.id ?? "", { by: ana });
    await settle();
    expect(ready).toEqual(["bot t1 7"]);
    await engine.callers.run(request({ key: "one", turn: "7" }), pay);
    await settle();
    expect(ready).toEqual(["bot t1 7"]);
  });

  test("comes when a question expires, and when a person settles an unknown outcome", async () => {
    const ready: string[] = [];
    await listen(async ({ turn }) => void ready.push(turn));
    await engine.callers.propose(request({ key: "short", expiresInMs: 1_000 }));
    await clock.advance(2_000);
    await engine.work({ once: true });
    await settle();
    expect(ready).toEqual(["short"]);

    const pending = await engine.callers.propose(request());
    await approve(pending);
    await settle();
    await startAndDie();
    await clock.advance(60_000);
    expect(await engine.callers.find(mine)).toMatchObject({ status: "unknown" });
    await settle();
    expect(ready).toEqual(["short", mine.key]);
    await engine.settle(pending.confirmation?.id ?? "", { as: "succeeded", result: null }, { by: ana });
    await settle();
    expect(ready).toEqual(["short", mine.key, mine.key]);
  });

  test("is not about what the caller withdrew itself, nor about other apps", async () => {
    const ready: string[] = [];
    await listen(async ({ turn }) => void ready.push(turn));
    await engine.callers.propose(request());
    await engine.callers.cancel(mine, "the user moved on");
    await approve(await engine.callers.propose(request({ key: "other", app: "bank" })));
    await settle();
    expect(ready).toEqual([]);
  });

  test("comes again until it was handled, also in the next process", async () => {
    const tried: string[] = [];
    const failures: string[] = [];
    const first = await listen(
      async () => {
        tried.push("first");
        throw new Error("the model is down");
      },
      { onFailure: ({ reason }) => failures.push(reason) },
    );
    await approve(await engine.callers.propose(request()));
    await settle();
    expect(tried).not.toEqual([]);
    expect(new Set(failures)).toEqual(new Set(["the model is down"]));
    await first.stop();
    await listen(async ({ turn }) => void tried.push(turn));
    for (let rounds = 0; rounds < 5; rounds += 1) await settle();
    expect(tried.filter((each) => each === mine.key)).toHaveLength(1);
  });

  test("waits for a process that was not there when the decision was taken", async () => {
    await (await listen(async () => {})).stop();
    await approve(await engine.callers.propose(request()));
    const ready: string[] = [];
    await listen(async ({ turn }) => void ready.push(turn));
    await settle();
    expect(ready).toEqual([mine.key]);
  });

  test("is held while its handler is at work, however long that takes", async () => {
    let started = 0;
    const { promise: finished, resolve } = Promise.withResolvers<void>();
    const handle = async (): Promise<void> => {
      started += 1;
      await finished;
    };
    await listen(handle);
    const others = new Engine({ ledger, clock });
    notices.push(others.callers.onReady({ app: "shop" }, handle));
    await approve(await engine.callers.propose(request()));
    for (let rounds = 0; rounds < 10; rounds += 1) await settle();
    expect(started).toBe(1);
    resolve();
    await settle();
    expect(started).toBe(1);
  });
});
