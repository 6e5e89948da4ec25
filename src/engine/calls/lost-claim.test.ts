import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { CallRecord, JournalRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { killableEngine, settle, until, type WatchedLedger } from "../testing/execution.ts";
import { loseCommit, setsStatus } from "../testing/forgetful.ts";
import { tryApprove } from "../testing/try-decide.ts";

const ana = { id: "ana" };

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;
let engine: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  ({ engine, watched } = killableEngine(ledger, clock));
});

afterEach(async () => {
  await ledger.close();
});

async function stored(): Promise<CallRecord> {
  const snapshot = await ledger.load({ session: { app: "gate:pay", user: "gate", id: "k" } });
  const [call] = await ledger.calls([`${snapshot?.session.key}.k`]);
  if (call === undefined) throw new Error("There is no call.");
  return call;
}

async function records(kind: string): Promise<readonly JournalRecord[]> {
  return (await ledger.journal.records({ after: 0, limit: 500 })).filter((record) => record.kind === kind);
}

async function openQuestion(): Promise<string> {
  const [first] = (await ledger.confirmations({ state: "open" })).items;
  return first?.confirmation.id ?? "";
}

/** A gated call, approved here; what it does is up to the body. */
async function approved(body: () => Promise<string>): Promise<void> {
  const pay = engine.gate("pay", { requireConfirmation: true }, body);
  pay({}, { key: "k", by: ana }).catch(() => {});
  await until(clock, async () => (await openQuestion()) !== "");
  await engine.approve(await openQuestion(), { by: ana });
}

describe("a result of a call that has not begun, by the ledger's word", () => {
  test("makes it unknown, and nobody is offered it again: the ledger lost the approval and the claim", async () => {
    loseCommit(watched, setsStatus("call-update", "executing"));
    await approved(async () => "paid");
    await until(clock, async () => (await stored()).status !== "waiting");
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
    expect((await ledger.confirmations({ state: "open" })).items).toEqual([]);
    const [record] = await records("call-unknown");
    expect(record?.body).toMatchObject({
      attempt: 1,
      outcome: "succeeded",
      result: { result: "paid" },
      statusThen: "waiting",
    });
  });

  test("leaves its question to nobody: an approval of what was shown before is refused", async () => {
    loseCommit(watched, setsStatus("call-update", "executing"));
    let runs = 0;
    const gone = Promise.withResolvers<string>();
    await approved(async () => {
      runs += 1;
      return gone.promise;
    });
    const question = await openQuestion();
    gone.resolve("paid");
    await until(clock, async () => (await stored()).status === "unknown");
    expect(await tryApprove(engine, question, { by: ana })).toMatchObject({ ok: false });
    await settle(clock);
    expect(runs).toBe(1);
  });

  test("keeps a call that a person wants to run again from running: it had run", async () => {
    const done = Promise.withResolvers<string>();
    await approved(async () => done.promise);
    const other = new Engine({ ledger, clock });
    // It stands still for longer than its lease.
    watched.intercept("owners.beat", () => new Promise(() => {}));
    await clock.advance(15_000);
    await other.work({ once: true });
    expect((await stored()).status).toBe("unknown");
    // By a process that does not host it: it is ready for one that does.
    await other.decisions.settle({ call: (await stored()).id }, { as: "retry" }, { by: ana });
    expect((await stored()).status).toBe("ready");
    done.resolve("paid");
    await until(clock, async () => (await stored()).status !== "ready");
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
    const [, record] = await records("call-unknown");
    expect(record?.body).toMatchObject({ outcome: "succeeded", statusThen: "ready" });
  });
});

test("a result counts only under the owner that claimed, whatever the attempt", async () => {
  loseCommit(watched, setsStatus("call-update", "executing"));
  const first = Promise.withResolvers<string>();
  await approved(async () => first.promise);
  // The ledger lost the claim; another process is asked, and claims the same call as the same attempt.
  const { engine: other } = killableEngine(ledger, clock);
  const second = Promise.withResolvers<string>();
  other.gate("pay", { requireConfirmation: true }, async () => second.promise);
  await other.approve(await openQuestion(), { by: ana });
  expect(await stored()).toMatchObject({ status: "executing", attempt: 1 });
  // What the process knows of the session is of no use any more.
  const { id: call } = await stored();
  await other.decisions.noteRefusal({ call }, { code: "forbidden", what: "settle" }, { by: { id: "eve" } });
  first.resolve("of the first");
  await until(clock, async () => (await records("late-result")).length > 0);
  expect(await stored()).toMatchObject({ status: "executing" });
  second.resolve("of the second");
  await until(clock, async () => (await stored()).status !== "executing");
  expect(await stored()).toMatchObject({ status: "succeeded", result: "of the second" });
});
