import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonValue } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import type { CallContext } from "../calls/call-context.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { GateOptions } from "../gate/gate.ts";
import type { PolicySource } from "../gate/index.ts";
import { finishFrame, partsOf, receiveMessage, recordTurn } from "../index.ts";
import type { CallRecord, JournalRecord } from "../ledger/index.ts";
import type { DueWork, Ledger } from "../ledger/ledger.ts";
import {
  hostOf,
  killableEngine,
  message,
  modelSays,
  planned,
  settle,
  toolOf,
  until,
} from "../testing/execution.ts";

const LEASE_MS = 15_000;
const HEARTBEAT_MS = 5_000;
const ana = { id: "ana" };
const use = { key: "k", by: ana };

let clock: ManualClock;
let ledger: Ledger;
let survivor: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  survivor = new Engine({ ledger, clock });
});

afterEach(async () => {
  await ledger.close();
});

type Body = (context: CallContext) => Promise<JsonValue | undefined>;

const askSixTimes: Body = async ({ confirm, attempt }) => {
  for (const round of ["a", "b", "c", "d", "e", "f"]) await confirm(round);
  return attempt;
};

async function stored(): Promise<CallRecord> {
  const snapshot = await ledger.load({ session: { app: "gate:tool", user: "gate", id: "k" } });
  const [call] = await ledger.calls([`${snapshot?.session.key}.k`]);
  if (call === undefined) throw new Error("There is no call.");
  return call;
}

async function records(kind: string): Promise<readonly JournalRecord[]> {
  return (await ledger.journal.records({ after: 0, limit: 500 })).filter((record) => record.kind === kind);
}

/** Starts the tool in a process that dies inside its body. Resolves once the body was entered. */
async function dieInside(
  options: GateOptions<object> = {},
  body: Body = () => new Promise(() => {}),
): Promise<{ readonly finish: (result: JsonValue) => void; readonly crash: () => void }> {
  const { engine, crash } = killableEngine(ledger, clock);
  const { promise: result, resolve: finish } = Promise.withResolvers<JsonValue>();
  let entered = false;
  const call = engine.gate("tool", options, async (_args: object, context) => {
    entered = true;
    return Promise.race([body(context), result]);
  });
  call({}, use).catch(() => {});
  await until(clock, () => entered);
  return { finish, crash };
}

describe("a call whose process is gone", () => {
  test("is left alone while its lease runs", async () => {
    const { crash } = await dieInside({ idempotent: true });
    crash();
    survivor.gate("tool", { idempotent: true }, async () => "again");
    await clock.advance(LEASE_MS - 1);
    await survivor.work({ once: true });
    expect(await stored()).toMatchObject({ status: "executing", attempt: 1 });
  });

  test("is left to a process that is late while nobody has fenced it: it may still renew its lease", async () => {
    const { crash } = await dieInside({ idempotent: true });
    crash();
    const { id } = await stored();
    const { engine: other, watched } = killableEngine(ledger, clock);
    other.gate("tool", { idempotent: true }, async () => "again");
    // What was lost when somebody looked may be another's by the time it is taken up.
    watched.intercept("due", async (pass) => {
      const due = (await pass()) as DueWork;
      await clock.advance(LEASE_MS);
      return { ...due, lostCalls: [id] };
    });
    await other.work({ once: true });
    expect(await stored()).toMatchObject({ status: "executing", attempt: 1 });
    watched.lift("due");
    await other.work({ once: true });
    expect(await stored()).toMatchObject({ attempt: 2 });
  });

  test("becomes unknown if it may not be repeated, and is shown to a person with whoever held it", async () => {
    let runs = 0;
    const { crash } = await dieInside();
    crash();
    survivor.gate("tool", {}, async () => ++runs);
    await clock.advance(LEASE_MS);
    await survivor.work({ once: true });
    const call = await stored();
    expect(call).toMatchObject({ status: "unknown", attempt: 1 });
    expect((await ledger.unknownCalls()).items).toEqual([call]);
    expect(await ledger.owners.get(call.owner ?? "")).toMatchObject({ alive: false, pid: process.pid });
    const [record] = await records("call-unknown");
    expect(record?.body).toMatchObject({ call: call.id, attempt: 1, owner: call.owner });
    // However often anyone looks, and however long it takes.
    await clock.advance(100 * LEASE_MS);
    await survivor.work({ once: true });
    expect(runs).toBe(0);
    expect(await records("call-unknown")).toHaveLength(1);
  });

  test.each(["idempotent", "readOnly"] as const)(
    "is run again if it is %s: with the same key and the next attempt",
    async (option) => {
      const { crash } = await dieInside({ [option]: true });
      crash();
      const seen: unknown[] = [];
      survivor.gate("tool", { [option]: true }, async (_args, { idempotencyKey, attempt }) => {
        seen.push([idempotencyKey, attempt]);
        return "again";
      });
      await clock.advance(LEASE_MS);
      await survivor.work({ once: true });
      const call = await stored();
      expect(call).toMatchObject({ status: "succeeded", result: "again", attempt: 2 });
      expect(seen).toEqual([[call.id, 2]]);
      expect(await records("call-released")).toHaveLength(1);
    },
  );

  test("is unknown, with the reason, once it has taken five processes with it", async () => {
    const { crash } = await dieInside({ idempotent: true });
    crash();
    for (let lost = 1; lost < 5; lost += 1) {
      expect(await stored()).toMatchObject({ status: "executing", attempt: lost });
      const { engine, crash: crashToo } = killableEngine(ledger, clock);
      let entered = 0;
      engine.gate("tool", { idempotent: true }, async () => {
        entered += 1;
        return new Promise<never>(() => {});
      });
      await clock.advance(LEASE_MS);
      engine.work({ once: true }).catch(() => {});
      await until(clock, () => entered === 1);
      crashToo();
    }
    let runs = 0;
    survivor.gate("tool", { idempotent: true }, async () => ++runs);
    await clock.advance(LEASE_MS);
    await survivor.work({ once: true });
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 5, lost: 5 });
    const [record] = await records("call-unknown");
    expect(JSON.stringify(record?.body)).toContain("5 processes that ran it stopped");
    await clock.advance(LEASE_MS);
    await survivor.work({ once: true });
    expect(runs).toBe(0);
    // A person who wants it run again gets one more attempt.
    await survivor.decisions.settle({ call: (await stored()).id }, { as: "retry" }, { by: ana });
    await survivor.work({ once: true });
    expect(await stored()).toMatchObject({ status: "succeeded", attempt: 6 });
  });

  test("counts as lost only what was lost: questions and attempts that were given back do not", async () => {
    const { engine, crash } = killableEngine(ledger, clock);
    const call = engine.gate("tool", { idempotent: true }, async (_args: object, context) =>
      askSixTimes(context),
    );
    await call({}, use);
    for (let rounds = 0; rounds < 5; rounds += 1) {
      const [open] = (await ledger.confirmations({ state: "open" })).items;
      await engine.approve(open?.confirmation.id ?? "", { by: ana });
      await until(clock, async () => (await stored()).rounds === rounds + 2);
    }
    crash();
    expect(await stored()).toMatchObject({ status: "suspended", attempt: 6 });
    expect(await stored()).not.toHaveProperty("lost");
  });

  test("is given back by a process that cannot run it, for one that can", async () => {
    const { crash } = await dieInside({ idempotent: true });
    crash();
    await clock.advance(LEASE_MS);
    await survivor.work({ once: true });
    expect(await stored()).toMatchObject({ status: "ready", attempt: 1 });
    expect((await stored()).owner).toBeUndefined();
    const able = new Engine({ ledger, clock });
    able.gate("tool", { idempotent: true }, async (_args, { attempt }) => attempt);
    await able.work({ once: true });
    expect(await stored()).toMatchObject({ status: "succeeded", result: 2 });
  });

  test("that was given back to run again, and whose approver has left since, is unknown: it did begin", async () => {
    let finance = { users: ["ana"] };
    const policy: PolicySource = {
      judge: () => ({
        outcome: "confirm",
        reason: "money",
        requirements: [{ from: { users: ["ana"] }, count: 1, group: "finance" }],
      }),
      version: "v1",
      text: "",
      group: () => finance,
      person: (id) => id,
    };
    const { engine, crash } = killableEngine(ledger, clock, { policy });
    let entered = false;
    const call = engine.gate("tool", { idempotent: true }, async () => {
      entered = true;
      return new Promise<never>(() => {});
    });
    const asked = await call({}, use);
    if (asked.status !== "pending") throw new Error(asked.status);
    engine.approve(asked.confirmation.id, { by: ana }).catch(() => {});
    await until(clock, () => entered);
    crash();
    await clock.advance(LEASE_MS);
    await survivor.work({ once: true });
    expect(await stored()).toMatchObject({ status: "ready", attempt: 1, lost: 1 });
    finance = { users: ["bob"] };
    const able = new Engine({ ledger, clock, policy });
    able.gate("tool", { idempotent: true }, async () => "again");
    await able.work({ once: true });
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
    expect((await records("call-unknown")).map(({ body }) => body)).toMatchObject([
      {
        attempt: 1,
        statusThen: "ready",
        reason: "it was started and may have run, and it may not run again: too few approvals still count",
      },
    ]);
    expect(await records("confirmation-cancelled")).toEqual([]);
  });

  test("that may be repeated, but is not the tool any more that began, is unknown: it did begin", async () => {
    let runs = 0;
    const { crash } = await dieInside({ idempotent: true, requireConfirmation: false });
    crash();
    const errors: unknown[] = [];
    survivor.gate("tool", { idempotent: true, description: "something else now" }, async () => ++runs);
    await clock.advance(LEASE_MS);
    const worker = survivor.work({ onError: (error) => errors.push(error) });
    await until(clock, async () => (await stored()).status !== "executing");
    await worker.stop();
    expect(errors).toEqual([]);
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
    expect(runs).toBe(0);
  });

  test("is not taken from a process that still beats, however long its body takes", async () => {
    const { finish } = await dieInside();
    survivor.gate("tool", {}, async () => "never");
    for (let beats = 0; beats < 20; beats++) {
      await clock.advance(HEARTBEAT_MS);
      await survivor.work({ once: true });
    }
    expect((await stored()).status).toBe("executing");
    finish("slow but sure");
    await until(clock, async () => (await stored()).status === "succeeded");
  });

  test("is recovered by one of two processes that find it at the same moment", async () => {
    const { crash } = await dieInside({ idempotent: true });
    crash();
    const entered: string[] = [];
    const hang =
      (name: string) =>
      (_args: object, { attempt }: CallContext) => {
        entered.push(`${name} ${attempt}`);
        return new Promise<never>(() => {});
      };
    survivor.gate("tool", { idempotent: true }, hang("first"));
    const second = killableEngine(ledger, clock);
    second.engine.gate("tool", { idempotent: true }, hang("second"));
    await clock.advance(LEASE_MS);
    second.watched.intercept("due", async (pass) => {
      const due = await pass();
      survivor.work({ once: true }).catch(() => {});
      await until(clock, () => entered.length === 1);
      return due;
    });
    second.engine.work({ once: true }).catch(() => {});
    await settle(clock);
    expect(entered).toEqual(["first 2"]);
    expect(await stored()).toMatchObject({ status: "executing", attempt: 2 });
  });

  test("is handed over at once when its process retires instead of dying", async () => {
    const retiring = new Engine({ ledger, clock });
    const owner = await claimAndLeave(retiring);
    await ledger.owners.retire(owner);
    survivor.gate("tool", { idempotent: true }, async (_args, { attempt }) => attempt);
    await survivor.work({ once: true });
    expect(await stored()).toMatchObject({ status: "succeeded", result: 2 });
  });
});

async function claimAndLeave(engine: Engine): Promise<string> {
  let entered = false;
  const call = engine.gate("tool", { idempotent: true }, async () => {
    entered = true;
    return new Promise<never>(() => {});
  });
  call({}, use).catch(() => {});
  await until(clock, () => entered);
  return (await stored()).owner ?? "";
}

describe("a late result", () => {
  test("of the last attempt is accepted while nobody has settled the call", async () => {
    const { finish } = await frozenInside();
    await survivor.work({ once: true });
    expect((await stored()).status).toBe("unknown");
    finish("it did happen");
    await until(clock, async () => (await stored()).status === "succeeded");
    expect(await stored()).toMatchObject({ result: "it did happen", attempt: 1 });
    const [record] = await records("call-succeeded");
    expect(record?.body).toMatchObject({ late: true });
  });

  test("after a settlement changes nothing, and is kept in the journal", async () => {
    const { finish } = await frozenInside();
    await survivor.work({ once: true });
    const { id } = await stored();
    await survivor.decisions.settle({ call: id }, { as: "failed", error: "given up" }, { by: ana });
    finish("too late");
    await until(clock, async () => (await records("late-result")).length > 0);
    expect(await stored()).toMatchObject({ status: "failed", result: { error: "given up" } });
    const [record] = await records("late-result");
    expect(record?.body).toMatchObject({
      call: id,
      attempt: 1,
      outcome: "succeeded",
      result: { result: "too late" },
      statusThen: "failed",
    });
  });

  test("of an attempt that was replaced changes nothing, also while the next one runs", async () => {
    const { finish } = await frozenInside();
    const { promise: second, resolve: finishSecond } = Promise.withResolvers<string>();
    survivor.gate("tool", {}, () => second);
    await survivor.work({ once: true });
    const { id } = await stored();
    await survivor.decisions.settle({ call: id }, { as: "retry" }, { by: ana });
    expect(await stored()).toMatchObject({ status: "executing", attempt: 2 });
    finish("of the first");
    await until(clock, async () => (await records("late-result")).length > 0);
    expect((await stored()).status).toBe("executing");
    finishSecond("of the second");
    expect(await survivor.finished(id)).toMatchObject({ status: "succeeded", result: "of the second" });
  });

  test("after a settlement as retry is not taken for the run that a person ordered, and makes it unknown", async () => {
    const { finish } = await frozenInside();
    await survivor.work({ once: true });
    const { id } = await stored();
    // Nobody here can run it, so it waits, ready, with the old attempt's number.
    await survivor.decisions.settle({ call: id }, { as: "retry" }, { by: ana });
    expect(await stored()).toMatchObject({ status: "ready", attempt: 1 });
    finish("too late");
    await until(clock, async () => (await stored()).status !== "ready");
    // It had run: whoever said that it had not has to look again.
    expect((await stored()).status).toBe("unknown");
    expect(JSON.stringify((await records("call-unknown")).at(-1)?.body)).toContain("too late");
  });

  test.each(["while nobody has settled the call", "while the next attempt runs"])(
    "is all that is left to a process that woke: it begins no step any more %s",
    async (when) => {
      const { promise: go, resolve } = Promise.withResolvers<void>();
      const ran: string[] = [];
      await frozenInside(async ({ step }) => {
        await step("before", () => void ran.push("before"));
        await go;
        await step("after", () => void ran.push("after"));
        return "done";
      });
      survivor.gate("tool", {}, () => new Promise<never>(() => {}));
      await survivor.work({ once: true });
      const { id } = await stored();
      if (when !== "while nobody has settled the call")
        await survivor.decisions.settle({ call: id }, { as: "retry" }, { by: ana });
      resolve();
      await settle(clock);
      expect(ran).toEqual(["before"]);
    },
  );

  test("that is a question is not asked: the outcome of its call is unknown", async () => {
    const { promise: go, resolve } = Promise.withResolvers<void>();
    const { engine } = await frozenInside(async ({ confirm }) => {
      await go;
      await confirm("sure");
      return "done";
    });
    await survivor.work({ once: true });
    resolve();
    // Resolves when nothing of it runs any more: it does not try for ever to put the question.
    await engine.work({ once: true });
    expect((await stored()).status).toBe("unknown");
    expect((await ledger.confirmations({ state: "open" })).items).toEqual([]);
  });
});

/** A process that is stopped inside the body for longer than its lease, and wakes. */
async function frozenInside(
  body: Body = () => new Promise(() => {}),
): Promise<{ readonly engine: Engine; readonly finish: (result: JsonValue) => void }> {
  const frozen = killableEngine(ledger, clock, { heartbeatMs: 1_000 * LEASE_MS });
  const { promise: result, resolve: finish } = Promise.withResolvers<JsonValue>();
  let entered = false;
  const call = frozen.engine.gate("tool", {}, async (_args: object, context) => {
    entered = true;
    return Promise.race([body(context), result]);
  });
  call({}, use).catch(() => {});
  await until(clock, () => entered);
  await clock.advance(LEASE_MS);
  return { engine: frozen.engine, finish };
}

describe("a frame whose process is gone during a model step", () => {
  const session = { app: "bank", user: "ana", id: "s1" };

  test("is stepped again by a process that hosts its app, which alone may record the turn", async () => {
    const { engine: doomed, crash } = killableEngine(ledger, clock);
    doomed.host(hostOf("bank", {}, async () => {}));
    const outcome = await receiveMessage(partsOf(doomed), message(session, "hello"));
    if (!outcome.ok) throw new Error(outcome.message);
    crash();
    const stepped: string[] = [];
    survivor.host(
      hostOf("bank", {}, async (frame) => {
        stepped.push(frame.id);
        await finishFrame(partsOf(survivor), frame, { status: "done", event: modelSays("hi") });
      }),
    );
    await clock.advance(LEASE_MS);
    await survivor.work({ once: true });
    expect(stepped).toEqual([outcome.frame.id]);
    const back = new Engine({ ledger, clock });
    expect(await finishFrame(partsOf(back), outcome.frame, { status: "done", event: modelSays("hi!") })).toBe(
      false,
    );
    expect(
      await recordTurn(partsOf(back), outcome.frame, { event: modelSays("hi!"), calls: [] }),
    ).toBeUndefined();
    expect((await ledger.events(outcome.frame.session)).map(({ author }) => author)).toEqual(["user", "bot"]);
  });

  test("is left ready where nobody here can step it", async () => {
    const { engine: doomed, crash } = killableEngine(ledger, clock);
    doomed.host(hostOf("bank", {}, async () => {}));
    const outcome = await receiveMessage(partsOf(doomed), message(session, "hello"));
    if (!outcome.ok) throw new Error(outcome.message);
    crash();
    await clock.advance(LEASE_MS);
    await survivor.work({ once: true });
    expect(await ledger.load({ frame: outcome.frame.id })).toMatchObject({ frame: { status: "ready" } });
    expect(await ledger.liveFrames(outcome.frame.session)).toMatchObject([
      { id: outcome.frame.id, status: "ready" },
    ]);
  });

  test("does not block its session forever: a turn whose lease expired is not recorded, and is released", async () => {
    const slow = new Engine({ ledger, clock });
    const tool = toolOf(() => "ran");
    slow.host(hostOf("bank", { tool }, async () => {}));
    const outcome = await receiveMessage(partsOf(slow), message(session, "hello"));
    if (!outcome.ok) throw new Error(outcome.message);
    await clock.advance(2 * LEASE_MS);
    const calls = [planned("c1", "tool", { kind: "run", tool })];
    expect(
      await recordTurn(partsOf(slow), outcome.frame, { event: modelSays("let me see"), calls }),
    ).toBeUndefined();
    expect(await ledger.calls([`${outcome.frame.session}.c1`])).toEqual([]);
  });
});
