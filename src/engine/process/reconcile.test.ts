import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CountersignError } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { Engine } from "../engine.ts";
import { finishFrame, partsOf, receiveMessage, runRetention, toPrincipal } from "../index.ts";
import type { Commit } from "../ledger/commit.ts";
import type { CallRecord, FrameRecord, JournalRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  hostOf,
  killableEngine,
  message,
  modelSays,
  until,
  type WatchedLedger,
} from "../testing/execution.ts";
import { loseCommit, setsStatus } from "../testing/forgetful.ts";
import { tryApprove } from "../testing/try-decide.ts";
import { listNotices } from "./notices.ts";

const HEARTBEAT_MS = 5_000;
const ana = { id: "ana" };

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;
let engine: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  ({ engine, watched } = killableEngine(ledger, clock));
  await runForLong();
});

afterEach(async () => {
  await ledger.close();
});

/** Something else keeps the process at work, so that its owner goes on beating. */
async function runForLong(): Promise<void> {
  let entered = false;
  const long = engine.gate("long", {}, async () => {
    entered = true;
    return new Promise<never>(() => {});
  });
  long({}, { key: "long", by: ana }).catch(() => {});
  await until(clock, () => entered);
}

function lose(isLost: (commit: Commit) => boolean): void {
  loseCommit(watched, isLost);
}

/** The claim is done, and the process never hears that it was. */
function answerNothing(): void {
  watched.intercept("commit", async (pass, [commit]) => {
    if ((commit as Commit).owner === undefined) return pass();
    watched.lift("commit");
    await pass();
    throw new Error("the answer was lost");
  });
}

async function beats(count: number): Promise<void> {
  for (let beat = 0; beat < count; beat += 1) {
    await clock.advance(HEARTBEAT_MS);
    for (let turn = 0; turn < 50; turn += 1) await clock.advance(0);
  }
}

async function stored(tool: string): Promise<CallRecord> {
  const snapshot = await ledger.load({ session: { app: `gate:${tool}`, user: "gate", id: "k" } });
  const [call] = await ledger.calls([`${snapshot?.session.key}.k`]);
  if (call === undefined) throw new Error("There is no call.");
  return call;
}

async function records(kind: string): Promise<readonly JournalRecord[]> {
  return (await ledger.journal.records({ after: 0, limit: 500 })).filter((record) => record.kind === kind);
}

describe("a call whose end the ledger lost, while its process continues with other work", () => {
  test("gets the end that the process remembers, recorded again", async () => {
    let runs = 0;
    const pay = engine.gate("pay", {}, async () => ({ paid: ++runs }));
    lose(setsStatus("call-update", "succeeded"));
    pay({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, () => watched.count("commit") >= 3);
    expect(await stored("pay")).toMatchObject({ status: "executing", attempt: 1 });
    await beats(3);
    expect(await stored("pay")).toMatchObject({ status: "succeeded", attempt: 1, result: { paid: 1 } });
    expect(runs).toBe(1);
  });

  test("is asked about again if it had asked a person", async () => {
    const ship = engine.gate("ship", {}, async (_args: object, context) => {
      await context.confirm("manager", { hint: "May it be shipped?" });
      return "shipped";
    });
    lose(setsStatus("call-update", "suspended"));
    ship({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, () => watched.count("commit") >= 3);
    expect((await ledger.confirmations({ state: "open" })).items).toEqual([]);
    await beats(3);
    const [asked] = (await ledger.confirmations({ state: "open" })).items;
    expect(asked?.confirmation.shown.hint).toBe("May it be shipped?");
    const receipt = await tryApprove(engine, asked?.confirmation.id ?? "", { by: ana });
    expect(receipt.ok && (await receipt.finished)).toMatchObject({ status: "succeeded", result: "shipped" });
  });

  test("is left alone at the first look: it may be about to begin", async () => {
    const pay = engine.gate("pay", {}, async () => "paid");
    lose(setsStatus("call-update", "succeeded"));
    pay({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, () => watched.count("commit") >= 3);
    await beats(1);
    expect(await stored("pay")).toMatchObject({ status: "executing" });
  });
});

describe("a claim that this process does not know of", () => {
  test("becomes unknown, and a person is told why", async () => {
    let runs = 0;
    const pay = engine.gate("pay", {}, async () => ++runs);
    answerNothing();
    await expect(pay({}, { key: "k", by: ana })).rejects.toThrow("the answer was lost");
    await beats(3);
    expect(await stored("pay")).toMatchObject({ status: "unknown", attempt: 1 });
    const [record] = await records("call-unknown");
    expect(JSON.stringify(record?.body)).toContain(
      "the ledger lost the outcome that the process had reported",
    );
    expect(runs).toBe(0);
  });

  test("runs again if it may be repeated, and counts as lost: nobody may say later that it did not begin", async () => {
    const look = engine.gate("look", { idempotent: true }, async (_args: object, { attempt }) => attempt);
    answerNothing();
    await expect(look({}, { key: "k", by: ana })).rejects.toThrow("the answer was lost");
    await beats(3);
    await until(clock, async () => (await stored("look")).status === "succeeded");
    expect(await stored("look")).toMatchObject({ attempt: 2, lost: 1, result: 2 });
  });

  test("does not cost what runs beside it its lease, if the ledger was lost while it was asked", async () => {
    const pay = engine.gate("pay", {}, async () => "paid");
    watched.intercept("commit", async (pass, [commit]) => {
      if ((commit as Commit).owner === undefined) return pass();
      watched.lift("commit");
      await pass();
      throw new CountersignError("ledger-unreachable", "the connection was lost before the answer came");
    });
    await expect(pay({}, { key: "k", by: ana })).rejects.toMatchObject({ code: "ledger-unreachable" });
    await beats(5);
    expect(await stored("pay")).toMatchObject({ status: "unknown", attempt: 1 });
    const long = await ledger.load({ session: { app: "gate:long", user: "gate", id: "long" } });
    const [running] = await ledger.calls([`${long?.session.key}.long`]);
    expect(running).toMatchObject({ status: "executing", attempt: 1 });
    expect((await ledger.owners.get(running?.owner ?? ""))?.leaseUntil).toBeGreaterThan(clock.now());
  });

  test("is claimed and run again if that may be repeated", async () => {
    const attempts: number[] = [];
    const look = engine.gate("look", { readOnly: true }, async (_args: object, { attempt }) =>
      attempts.push(attempt),
    );
    answerNothing();
    await expect(look({}, { key: "k", by: ana })).rejects.toThrow("the answer was lost");
    await beats(3);
    expect(await stored("look")).toMatchObject({ status: "succeeded", attempt: 2 });
    expect(attempts).toEqual([2]);
  });

  test("is left alone while the answer is on its way, however long that takes", async () => {
    let runs = 0;
    const pay = engine.gate("pay", {}, async () => ++runs);
    const { promise: slow, resolve: answer } = Promise.withResolvers<void>();
    watched.intercept("commit", async (pass) => {
      watched.lift("commit");
      const outcome = await pass();
      await slow;
      return outcome;
    });
    const paid = pay({}, { key: "k", by: ana });
    await beats(4);
    expect(await stored("pay")).toMatchObject({ status: "executing" });
    answer();
    expect(await paid).toMatchObject({ status: "succeeded", result: 1 });
    expect(runs).toBe(1);
  });
});

describe("a step whose turn the ledger lost", () => {
  const session = { app: "shop", user: "ana", id: "s1" };

  async function stepping(): Promise<FrameRecord | undefined> {
    const key = (await ledger.load({ session }))?.session.key ?? "";
    return (await ledger.liveFrames(key))[0];
  }

  test("is taken again", async () => {
    let steps = 0;
    const step = async (frame: FrameRecord): Promise<void> => {
      steps += 1;
      await finishFrame(partsOf(engine), frame, { status: "done", event: modelSays(`answer ${steps}`) });
    };
    engine.host(hostOf("shop", {}, step));
    lose(setsStatus("frame-update", "done"));
    const received = await receiveMessage(partsOf(engine), message(session, "Hello"));
    if (received.ok) partsOf(engine).executions.step(received.frame);
    await until(clock, () => steps === 1);
    await beats(1);
    expect(await stepping()).toMatchObject({ status: "stepping" });
    await beats(2);
    expect(await stepping()).toBeUndefined();
    const key = (await ledger.load({ session }))?.session.key ?? "";
    const told = (await ledger.events(key)).map(({ content }) => content?.parts[0]?.text);
    expect(told).toEqual(["Hello", "answer 2"]);
  });

  test("is left alone while it goes on, however long that takes", async () => {
    let steps = 0;
    engine.host(
      hostOf("shop", {}, () => {
        steps += 1;
        return new Promise(() => {});
      }),
    );
    const received = await receiveMessage(partsOf(engine), message(session, "Hello"));
    if (received.ok) partsOf(engine).executions.step(received.frame);
    await beats(5);
    expect(steps).toBe(1);
  });
});

test("a ledger that does not answer the look keeps no beat waiting, and the next look finds it", async () => {
  const pay = engine.gate("pay", {}, async () => "paid");
  lose(setsStatus("call-update", "succeeded"));
  pay({}, { key: "k", by: ana }).catch(() => {});
  await until(clock, () => watched.count("commit") >= 3);
  const { promise: away, reject } = Promise.withResolvers<never>();
  away.catch(() => {});
  watched.intercept("owners.held", () => away);
  const before = watched.count("owners.beat");
  await beats(3);
  expect(watched.count("owners.beat")).toBe(before + 3);
  reject(new Error("away"));
  watched.lift("owners.held");
  await beats(3);
  expect(await stored("pay")).toMatchObject({ status: "succeeded" });
});

test("what was pruned a moment after it was committed is not taken for lost", async () => {
  const name = { app: "shop", user: "ana", id: "s" };
  await engine.createSession(name, { state: { a: 1 } });
  expect(await engine.deleteSession(name, ana)).toMatchObject({ ok: true });
  await engine.head();
  await clock.advance(2_000);
  const rules = {
    version: "v1",
    shortestContentMs: undefined,
    contentMs: () => undefined,
    journal: { shortestMs: 1_000, keepMs: () => 1_000 },
  };
  const decider = { by: toPrincipal(ana), via: "cli" };
  // In another process: its own commits are newer than those that are looked for first.
  const { engine: other } = killableEngine(ledger, clock);
  const { journal } = await runRetention(partsOf(other), { rules, decider, pauseMs: 0 });
  expect(journal).toMatchObject({ sessions: 1 });
  await beats(3);
  expect(await listNotices(ledger.items)).toEqual([]);
});
