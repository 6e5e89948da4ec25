import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonValue, StoredEvent } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { CallEnd } from "../calls/call-end.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { LiveTool } from "../host.ts";
import { finishFrame, partsOf, receiveMessage, recordTurn } from "../index.ts";
import type { CallRecord, FrameRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  ask,
  hostOf,
  killableEngine,
  message,
  modelSays,
  planned,
  pumped,
  settle,
  toolOf,
  until,
} from "../testing/execution.ts";
import { tryApprove, tryDeny } from "../testing/try-decide.ts";
import type { PlannedCall, Turn } from "./turns.ts";

const ana = { id: "ana" };
const session = { app: "bank", user: "ana", id: "s1" };

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;
/** Every step that the engine handed to the host, in order. */
let steps: FrameRecord[];
let tools: Record<string, LiveTool>;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
  steps = [];
  tools = { pay: toolOf(() => "paid"), look: toolOf(() => "seen") };
  engine.host(hostOf("bank", tools, async (frame) => void steps.push(frame)));
});

afterEach(async () => {
  await engine.close();
});

async function start(text = "hello", invocation = "i1", on: Engine = engine): Promise<FrameRecord> {
  const outcome = await receiveMessage(partsOf(on), message(session, text, invocation));
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.frame;
}

async function record(frame: FrameRecord, calls: readonly PlannedCall[], on: Engine = engine): Promise<Turn> {
  const turn = await recordTurn(partsOf(on), frame, {
    event: modelSays("let me see", frame.invocation),
    calls,
  });
  if (turn === undefined) throw new Error("The frame is not ours.");
  return turn;
}

function run(wireId: string, name = "look", more: Partial<PlannedCall> = {}): PlannedCall {
  return planned(wireId, name, { kind: "run", tool: tools[name] ?? toolOf(() => null) }, more);
}

function idOf(turn: Turn, index = 0): string {
  const asked = turn.asked[index];
  if (asked === undefined) throw new Error(`Question ${index} was not asked.`);
  return asked.confirmation.id;
}

async function frameOf(frame: FrameRecord): Promise<FrameRecord | undefined> {
  return (await ledger.load({ frame: frame.id }))?.frame;
}

async function callOf(frame: FrameRecord, wireId: string): Promise<CallRecord | undefined> {
  return (await ledger.calls([`${frame.session}.${wireId}`]))[0];
}

function responses(events: readonly StoredEvent[]): [string, JsonValue][] {
  return events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ functionResponse: response }) =>
      response === undefined
        ? []
        : [[response.id ?? "", response.response as JsonValue] as [string, JsonValue]],
    );
}

describe("a user's message", () => {
  test("makes the session, is stored as an event, and claims the step that answers it", async () => {
    const frame = await start("hello");
    expect(frame).toMatchObject({ status: "stepping", agent: "bot", invocation: "i1", turn: 0, open: 0 });
    expect(await frameOf(frame)).toEqual(frame);
    expect(await ledger.load({ session })).toMatchObject({ session: { key: frame.session, version: 1 } });
    expect(await ledger.events(frame.session)).toMatchObject([
      { author: "user", timestamp: clock.now(), content: { parts: [{ text: "hello" }] } },
    ]);
  });

  test("is refused while another is being answered, and changes nothing", async () => {
    const frame = await start("hello");
    expect(await receiveMessage(partsOf(engine), message(session, "hello?", "i2"))).toMatchObject({
      ok: false,
      code: "session-busy",
    });
    expect(await ledger.events(frame.session)).toHaveLength(1);
  });

  test("that comes at the same moment as others is taken once; the others are told that it is busy", async () => {
    const messages = Array.from({ length: 10 }, (_, n) => message(session, `${n}`, `i${n}`));
    const outcomes = await pumped(
      clock,
      Promise.all(messages.map((input) => receiveMessage(partsOf(engine), input))),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.filter((outcome) => !outcome.ok && outcome.code === "session-busy")).toHaveLength(9);
  });

  test("is welcome while a call waits for a person: waiting holds nothing", async () => {
    const first = await start("pay", "i1");
    await record(first, [planned("c1", "pay", ask())]);
    const second = await start("how long?", "i2");
    expect(second.id).not.toBe(first.id);
    expect(second.session).toBe(first.session);
  });

  test("is welcome while a call runs: only a model's step holds the session", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    tools["slow"] = toolOf(() => promise);
    await record(await start("go", "i1"), [run("c1", "slow")]);
    const second = await start("still there?", "i2");
    expect(second.status).toBe("stepping");
    resolve("done");
    await finishFrame(partsOf(engine), second, { status: "done" });
  });

  test("to a deleted session is refused", async () => {
    const frame = await start();
    await finishFrame(partsOf(engine), frame, { status: "done" });
    await engine.deleteSession(session, ana);
    expect(await receiveMessage(partsOf(engine), message(session, "hello?"))).toMatchObject({
      ok: false,
      code: "session-deleted",
    });
  });
});

describe("a model's turn", () => {
  test("is one commit: calls that need nobody are claimed, the others asked about, the rest answered", async () => {
    const { engine: own, watched } = killableEngine(ledger, clock);
    own.host(hostOf("bank", tools, async (frame) => void steps.push(frame)));
    const { promise, resolve } = Promise.withResolvers<string>();
    tools["slow"] = toolOf(() => promise);
    const frame = await start("go", "i1", own);
    const before = watched.count("commit");
    const turn = await record(
      frame,
      [
        run("c1", "slow"),
        planned("c2", "pay", ask("Pay?")),
        planned("c3", "gone", { kind: "answer", status: "failed", result: { error: "no such tool" } }),
        planned("c4", "pay", ask("Pay again?")),
      ],
      own,
    );
    expect(watched.count("commit")).toBe(before + 1);
    expect(turn.calls.map(({ wireId, status, ord }) => [wireId, status, ord])).toEqual([
      ["c1", "executing", 0],
      ["c2", "waiting", 1],
      ["c3", "failed", 2],
      ["c4", "waiting", 3],
    ]);
    expect(await ledger.calls(turn.frame.calls)).toMatchObject(turn.calls.map(({ id }) => ({ id })));
    expect(await frameOf(frame)).toMatchObject({ status: "waiting", open: 3, turn: 1 });
    expect((await frameOf(frame))?.owner).toBeUndefined();
    expect((await ledger.load({ session }))?.session.open).toBe(2);
    resolve("slow result");
    await own.finished(`${frame.session}.c1`);
  });

  test("with several questions is one request event that names them all", async () => {
    const turn = await record(await start(), [
      planned("c1", "pay", ask("Pay Bob?")),
      planned("c2", "pay", ask("Pay Eve?")),
    ]);
    const asking = (await ledger.events(turn.frame.session)).filter(({ asks }) => asks !== undefined);
    expect(asking).toHaveLength(1);
    expect(asking[0]).toMatchObject({
      author: "bot",
      invocationId: "i1",
      asks: [
        { id: idOf(turn, 0), hint: "Pay Bob?", call: { id: "c1", name: "pay", args: { of: "c1" } } },
        { id: idOf(turn, 1), hint: "Pay Eve?", call: { id: "c2", name: "pay" } },
      ],
    });
    expect(turn.events).toEqual(await ledger.events(turn.frame.session, { after: 1 }));
  });

  test("hides declared secrets from the request event, and gives them to the tool", async () => {
    const seen: unknown[] = [];
    tools["pay"] = toolOf((args) => void seen.push(args));
    const turn = await record(await start(), [
      planned("c1", "pay", ask(), { args: { to: "Bob", pin: "1234" }, secrets: ["/pin"] }),
    ]);
    const events = JSON.stringify(await ledger.events(turn.frame.session));
    expect(events).toContain("Bob");
    expect(events).not.toContain("1234");
    await engine.approve(idOf(turn), { by: ana });
    await engine.finished(`${turn.frame.session}.c1`);
    expect(seen).toEqual([{ to: "Bob", pin: "1234" }]);
  });

  test("with nothing to wait for leaves the step with whoever has it", async () => {
    const frame = await start();
    const turn = await record(frame, [
      planned("c1", "gone", { kind: "answer", status: "failed", result: { error: "no such tool" } }),
    ]);
    expect(turn.frame).toMatchObject({ status: "stepping", turn: 1, open: 0 });
    expect(responses(turn.events)).toEqual([["c1", { error: "no such tool" }]]);
    // The old turn cannot be recorded twice; the new one goes on.
    expect(
      await recordTurn(partsOf(engine), frame, { event: modelSays("again"), calls: [] }),
    ).toBeUndefined();
    expect(await finishFrame(partsOf(engine), turn.frame, { status: "done" })).toBe(true);
  });

  test("is refused to whoever does not hold the step", async () => {
    const frame = await start();
    const stranger = { ...frame, owner: "somebody else" };
    expect(
      await recordTurn(partsOf(engine), stranger, { event: modelSays("mine"), calls: [] }),
    ).toBeUndefined();
    expect(await finishFrame(partsOf(engine), stranger, { status: "done" })).toBe(false);
    expect(await ledger.events(frame.session)).toHaveLength(1);
  });

  test("cannot be recorded, nor its frame ended, in a session that was deleted meanwhile", async () => {
    const frame = await start();
    await engine.deleteSession(session, ana);
    expect(
      await recordTurn(partsOf(engine), frame, { event: modelSays("a secret"), calls: [] }),
    ).toBeUndefined();
    expect(await finishFrame(partsOf(engine), frame, { status: "done", event: modelSays("a secret") })).toBe(
      false,
    );
    expect(await ledger.events(frame.session)).toEqual([]);
  });
});

describe("the frame's next step", () => {
  test("comes once, when the last call has its answer, and never before", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    tools["slow"] = toolOf(() => promise);
    const turn = await record(await start(), [
      run("c1", "slow"),
      planned("c2", "pay", ask()),
      planned("c3", "pay", ask()),
    ]);
    await engine.approve(idOf(turn, 1), { by: ana });
    await engine.finished(`${turn.frame.session}.c3`);
    await engine.deny(idOf(turn, 0), { by: ana });
    await settle(clock);
    expect(steps).toEqual([]);
    resolve("slow result");
    await until(clock, () => steps.length > 0);
    await settle(clock);
    expect(steps).toMatchObject([{ id: turn.frame.id, status: "stepping", open: 0, turn: 1 }]);
    expect(responses(await ledger.events(turn.frame.session))).toEqual([
      ["c3", { result: "paid" }],
      ["c2", { error: "tool call was rejected by the user" }],
      ["c1", { result: "slow result" }],
    ]);
    // In the model's order, whatever the order of the answers.
    expect((await ledger.calls(turn.frame.calls)).map(({ wireId }) => wireId)).toEqual(["c1", "c2", "c3"]);
  });

  const ways: readonly [string, (turn: Turn) => Promise<unknown>][] = [
    ["an approval", (turn) => tryApprove(engine, idOf(turn), { by: ana })],
    ["a denial", (turn) => tryDeny(engine, idOf(turn), { by: ana })],
    ["a withdrawal", (turn) => engine.decisions.cancel(idOf(turn), { by: ana, reason: "no" })],
    [
      "an expiry found by a sweep",
      async () => {
        await clock.advance(1_000);
        await engine.work({ once: true });
      },
    ],
    [
      "an expiry found by a late decision",
      async (turn) => {
        await clock.advance(1_000);
        await tryApprove(engine, idOf(turn), { by: ana });
      },
    ],
  ];
  test.each(ways)("follows from %s", async (_way, decide) => {
    const turn = await record(await start(), [planned("c1", "pay", ask("Sure?", { expiresInMs: 1_000 }))]);
    await decide(turn);
    await until(clock, () => steps.length === 1);
    expect(steps).toMatchObject([{ id: turn.frame.id, status: "stepping" }]);
    expect(await frameOf(turn.frame)).toMatchObject({ status: "stepping", open: 0 });
  });

  test("follows from the settlement of an unknown call, which keeps it waiting until then", async () => {
    const { engine: doomed, crash } = killableEngine(ledger, clock);
    tools["hang"] = toolOf(() => new Promise(() => {}));
    doomed.host(hostOf("bank", tools, async () => {}));
    const turn = await record(await start("go", "i1", doomed), [run("c1", "hang")], doomed);
    crash();
    await clock.advance(15_000);
    await engine.work({ once: true });
    expect(await callOf(turn.frame, "c1")).toMatchObject({ status: "unknown" });
    expect(await frameOf(turn.frame)).toMatchObject({ status: "waiting", open: 1 });
    expect(steps).toEqual([]);
    const target = { call: `${turn.frame.session}.c1` };
    await engine.decisions.settle(target, { as: "succeeded", result: { ok: 1 } }, { by: ana });
    await until(clock, () => steps.length === 1);
  });

  test("follows from a question too many, which is the call's answer", async () => {
    const own = new Engine({ ledger, clock, maxRounds: 0 });
    own.host(hostOf("bank", tools, async (frame) => void steps.push(frame)));
    tools["asks"] = toolOf((_args, { requestConfirmation }) => requestConfirmation() ?? null);
    const turn = await record(await start("go", "i1", own), [run("c1", "asks")], own);
    await until(clock, () => steps.length === 1);
    expect(await callOf(turn.frame, "c1")).toMatchObject({
      status: "failed",
      result: { code: "too-many-open" },
    });
  });

  test("is taken once when the last two answers come at the same moment", async () => {
    const turn = await record(
      await start(),
      Array.from({ length: 10 }, (_, n) => planned(`c${n}`, "pay", ask())),
    );
    const inputs = turn.asked.map((_, n) => ({ id: idOf(turn, n), confirmed: n % 2 === 0 }));
    await pumped(clock, Promise.all(inputs.map((input) => engine.decisions.decide(input, { by: ana }))));
    const ended = turn.calls.map(({ id }) => engine.finished(id));
    await pumped(clock, Promise.all(ended));
    await until(clock, () => steps.length > 0);
    await settle(clock);
    expect(steps).toHaveLength(1);
  });

  test("is left to a process that hosts the app, where the decision was taken elsewhere", async () => {
    const turn = await record(await start(), [planned("c1", "pay", ask())]);
    const elsewhere = new Engine({ ledger, clock });
    await elsewhere.deny(idOf(turn), { by: ana });
    expect(await frameOf(turn.frame)).toMatchObject({ status: "ready" });
    expect(steps).toEqual([]);
    await engine.work({ once: true });
    expect(steps).toMatchObject([{ id: turn.frame.id }]);
  });

  test("of one frame waits while another frame of the session steps, and comes when that lets go", async () => {
    const first = await record(await start("pay", "i1"), [planned("c1", "pay", ask())]);
    const second = await start("how long?", "i2");
    await engine.deny(idOf(first), { by: ana });
    await settle(clock);
    expect(steps).toEqual([]);
    expect(await frameOf(first.frame)).toMatchObject({ status: "ready" });
    // No worker runs: whoever ends the step looks for what it kept waiting.
    expect(
      await finishFrame(partsOf(engine), second, { status: "done", event: modelSays("soon", "i2") }),
    ).toBe(true);
    await until(clock, () => steps.length === 1);
    expect(steps).toMatchObject([{ id: first.frame.id }]);
  });

  test("of two frames that became ready elsewhere comes for one after the other", async () => {
    const elsewhere = new Engine({ ledger, clock });
    const first = await record(await start("pay", "i1"), [planned("c1", "pay", ask())]);
    const second = await record(await start("and pay Eve", "i2"), [planned("c2", "pay", ask())]);
    await elsewhere.deny(idOf(first), { by: ana });
    await elsewhere.deny(idOf(second), { by: ana });
    await engine.work({ once: true });
    await engine.work({ once: true });
    expect(steps).toHaveLength(1);
    const [stepping] = steps;
    if (stepping === undefined) throw new Error("No step.");
    await finishFrame(partsOf(engine), stepping, { status: "done" });
    await until(clock, () => steps.length === 2);
    expect(new Set(steps.map(({ id }) => id))).toEqual(new Set([first.frame.id, second.frame.id]));
  });

  test("comes also when the step that kept it waiting ends with a question of its own", async () => {
    const first = await record(await start("pay", "i1"), [planned("c1", "pay", ask())]);
    const second = await start("and pay Eve", "i2");
    await engine.deny(idOf(first), { by: ana });
    await settle(clock);
    expect(steps).toEqual([]);
    await record(second, [planned("c2", "pay", ask())]);
    await until(clock, () => steps.length === 1);
    expect(steps).toMatchObject([{ id: first.frame.id }]);
  });

  test("is never lost between a decision and a step that ends at the same moment", async () => {
    for (let round = 0; round < 50; round++) {
      const name = { ...session, id: `race ${round}` };
      const open = await receiveMessage(partsOf(engine), message(name, "pay", "i1"));
      if (!open.ok) throw new Error(open.message);
      const first = await record(open.frame, [planned("c1", "pay", ask())]);
      const next = await receiveMessage(partsOf(engine), message(name, "how long?", "i2"));
      if (!next.ok) throw new Error(next.message);
      const seen = steps.length;
      await Promise.all([
        tryDeny(engine, idOf(first), { by: ana }),
        round % 2 === 0
          ? finishFrame(partsOf(engine), next.frame, { status: "done" })
          : record(next.frame, [planned("c2", "pay", ask())]),
      ]);
      await until(clock, () => steps.length > seen);
      expect(steps.slice(seen).map(({ id }) => id)).toEqual([open.frame.id]);
    }
  });

  test("of a deleted session is not taken", async () => {
    const turn = await record(await start(), [planned("c1", "pay", ask())]);
    await new Engine({ ledger, clock }).deny(idOf(turn), { by: ana });
    expect(await frameOf(turn.frame)).toMatchObject({ status: "ready" });
    await engine.deleteSession(session, ana);
    await engine.work({ once: true });
    expect(steps).toEqual([]);
  });
});

describe("the end of a frame", () => {
  test("stores the last event and the output, and lets the session go", async () => {
    const frame = await start();
    await finishFrame(partsOf(engine), frame, {
      status: "done",
      event: modelSays("bye"),
      output: { said: "bye" },
    });
    expect(await frameOf(frame)).toMatchObject({ status: "done", output: { said: "bye" } });
    expect((await frameOf(frame))?.owner).toBeUndefined();
    expect(await finishFrame(partsOf(engine), frame, { status: "done" })).toBe(false);
    expect(await start("next", "i2")).toMatchObject({ status: "stepping" });
  });

  test("comes with failure when the host's step throws, so that the session is not stuck", async () => {
    const own = new Engine({ ledger, clock });
    own.host(hostOf("bank", tools, () => Promise.reject(new Error("the model is away"))));
    const turn = await record(await start("go", "i1", own), [run("c1")], own);
    await until(clock, async () => (await frameOf(turn.frame))?.status === "failed");
    expect((await ledger.events(turn.frame.session)).at(-1)).toMatchObject({
      errorMessage: expect.stringContaining("the model is away") as string,
    });
  });
});

describe("a call that hands its work to another agent", () => {
  const delegation = {
    kind: "llm",
    agent: "helper",
    branch: "bot.helper",
    message: "do it",
  } as const;

  test("is suspended without a lease, and answered by what that agent ends with", async () => {
    tools["delegate"] = { ...toolOf(() => null), run: async () => new CallEnd({ delegation }) };
    const turn = await record(await start(), [run("c1", "delegate")]);
    await until(clock, () => steps.length === 1);
    const [child] = steps;
    if (child === undefined) throw new Error("No child.");
    expect(child).toMatchObject({ agent: "helper", path: ["bot", "helper"], parentFrame: turn.frame.id });
    expect(await callOf(turn.frame, "c1")).toMatchObject({ status: "suspended" });
    await finishFrame(partsOf(engine), child, { status: "done", output: { done: true } });
    await until(clock, () => steps.length === 2);
    expect(await callOf(turn.frame, "c1")).toMatchObject({ status: "succeeded", result: { done: true } });
    expect(steps[1]).toMatchObject({ id: turn.frame.id, status: "stepping" });
  });

  test("hands nothing over once its run was stopped", async () => {
    const ended = Promise.withResolvers<CallEnd>();
    tools["delegate"] = { ...toolOf(() => null), run: () => ended.promise };
    const { frame } = await record(await start(), [run("c1", "delegate")]);
    const { session: key, invocation } = frame;
    await engine.cancelRun({ session: key, invocation, reason: "enough" });
    ended.resolve(new CallEnd({ delegation }));
    await until(clock, async () => (await callOf(frame, "c1"))?.status !== "executing");
    expect(await callOf(frame, "c1")).toMatchObject({ status: "failed" });
    expect(await ledger.liveFrames(key)).toEqual([]);
  });

  test("after a denial hands nothing over: the ledger says denied", async () => {
    tools["delegate"] = {
      ...toolOf(() => null, { onDenied: "invoke" }),
      run: async (_call, { toolConfirmation, requestConfirmation }) => {
        if (toolConfirmation === undefined) {
          requestConfirmation();
          return null;
        }
        return new CallEnd({ delegation });
      },
    };
    const turn = await record(await start(), [run("c1", "delegate")]);
    await until(clock, async () => (await callOf(turn.frame, "c1"))?.status === "suspended");
    const [open] = (await ledger.confirmations({ state: "open" })).items;
    await engine.deny(open?.confirmation.id ?? "", { by: ana });
    await until(clock, () => steps.length === 1);
    expect(steps).toMatchObject([{ id: turn.frame.id }]);
    expect(await callOf(turn.frame, "c1")).toMatchObject({ status: "denied" });
  });
});
