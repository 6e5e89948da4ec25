import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { finishFrame, partsOf, receiveMessage, recordTurn } from "../index.ts";
import type { Commit } from "../ledger/commit.ts";
import type { FrameRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  hostOf,
  message,
  modelSays,
  planned,
  toolOf,
  until,
  type WatchedLedger,
  watch,
} from "../testing/execution.ts";

const session = { app: "bank", user: "ana", id: "s1" };

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;
let engine: Engine;
let steps: FrameRecord[];
let gates: PromiseWithResolvers<string>[];

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  watched = watch(ledger);
  engine = new Engine({ ledger: watched.ledger, clock });
  steps = [];
  gates = [];
});

afterEach(async () => {
  await engine.close();
});

/** A turn of so many calls that need nobody; each ends when its gate is opened, or shut. */
async function runTurn(count: number): Promise<FrameRecord> {
  const wait = toolOf(() => {
    const gate = Promise.withResolvers<string>();
    gates.push(gate);
    return gate.promise;
  });
  engine.host(
    hostOf("bank", { wait }, async (frame) => {
      steps.push(frame);
      await finishFrame(partsOf(engine), frame, { event: modelSays("done"), status: "done" });
    }),
  );
  const received = await receiveMessage(partsOf(engine), message(session, "go"));
  if (!received.ok) throw new Error(received.message);
  const plan = { kind: "run", tool: wait } as const;
  const calls = Array.from({ length: count }, (_, n) => planned(`c${n}`, "wait", plan, { repeatable: true }));
  await recordTurn(partsOf(engine), received.frame, { event: modelSays("calling"), calls });
  await until(clock, () => gates.length === count);
  watched.calls.length = 0;
  return received.frame;
}

function commits(): readonly Commit[] {
  return watched.calls.filter(({ method }) => method === "commit").map(({ args }) => args[0] as Commit);
}

async function finalCalls(frame: FrameRecord): Promise<readonly unknown[]> {
  const ids = gates.map((_, n) => `${frame.session}.c${n}`);
  return (await ledger.calls(ids)).map(({ status, result, owner }) => ({ status, result, owner }));
}

test("calls of one turn that end together are stored in one commit, without a look, and followed by one step", async () => {
  const frame = await runTurn(3);
  gates[0]?.resolve("a");
  gates[1]?.reject(new Error("broken"));
  gates[2]?.resolve("c");
  await until(clock, () => steps.length > 0);
  await partsOf(engine).executions.settledIn("i1");
  expect(watched.calls.map(({ method }) => method)).toEqual(["commit", "commit"]);
  expect(steps).toHaveLength(1);
  expect(await finalCalls(frame)).toEqual([
    { status: "succeeded", result: "a", owner: undefined },
    { status: "failed", result: { error: "broken" }, owner: undefined },
    { status: "succeeded", result: "c", owner: undefined },
  ]);
  const kinds = (await ledger.journal.sessionRecords(frame.session, { after: 0, limit: 10 })).map(
    ({ kind }) => kind,
  );
  expect(kinds).toEqual(["calls-started", "call-succeeded", "call-failed", "call-succeeded"]);
  const events = await ledger.events(frame.session);
  expect(
    events.flatMap(({ content }) => content?.parts.map((part) => part.functionResponse?.id) ?? []),
  ).toEqual([undefined, undefined, "c0", "c1", "c2", undefined]);
  expect((await engine.verify()).ok).toBe(true);
});

test("nobody waits for a slower sibling", async () => {
  const frame = await runTurn(3);
  gates[0]?.resolve("a");
  gates[2]?.resolve("c");
  await until(clock, () => commits().length === 1);
  expect(steps).toHaveLength(0);
  expect(await finalCalls(frame)).toMatchObject([
    { status: "succeeded" },
    { status: "executing" },
    { status: "succeeded" },
  ]);
  gates[1]?.resolve("b");
  await until(clock, () => steps.length === 1);
});

test("where somebody else was at the session meanwhile, they are still stored together", async () => {
  const frame = await runTurn(2);
  const other = new Engine({ ledger, clock });
  await other.createSession({ ...session, id: "another" });
  const talk = await receiveMessage(partsOf(other), {
    ...message(session, "beside", "i2"),
    frame: { kind: "llm", agent: "bot", path: ["bot"] },
  });
  if (talk.ok)
    await finishFrame(partsOf(other), talk.frame, { event: modelSays("yes?", "i2"), status: "done" });
  for (const gate of gates) gate.resolve("x");
  await until(clock, () => steps.length === 1);
  expect(await finalCalls(frame)).toMatchObject([{ status: "succeeded" }, { status: "succeeded" }]);
});

test("one that was lost meanwhile does not keep the others from being stored", async () => {
  const frame = await runTurn(2);
  const [lost] = await ledger.calls([`${frame.session}.c0`]);
  const snapshot = await ledger.load({ sessionKey: frame.session });
  if (snapshot === undefined || lost === undefined) throw new Error("The turn is not there.");
  const { version, nextSeq, open, ready, bytes, chain } = snapshot.session;
  const [row] = await ledger.journal.sessionRows(frame.session, { after: version - 1, limit: 1 });
  if (row === undefined) throw new Error("The log has no such line.");
  await ledger.commit({
    session: { key: frame.session, version },
    change: { nextSeq, open, ready, bytes, chain, updatedAt: clock.now() },
    writes: [
      { kind: "call-update", id: lost.id, from: "executing", attempt: 1, set: { status: "cancelled" } },
    ],
    log: { ...row, n: version + 1 },
    sync: false,
  });
  for (const gate of gates) gate.resolve("x");
  await until(clock, async () =>
    (await finalCalls(frame)).some((call) => JSON.stringify(call).includes("succ")),
  );
  await partsOf(engine).executions.settledIn("i1");
  expect(await finalCalls(frame)).toMatchObject([{ status: "cancelled" }, { status: "succeeded" }]);
});

test("a ledger that is away for a moment loses none of them", async () => {
  const frame = await runTurn(2);
  let away = true;
  watched.intercept("commit", async (pass) => {
    if (!away) return pass();
    away = false;
    throw new Error("away");
  });
  for (const gate of gates) gate.resolve("x");
  await until(clock, () => !away);
  for (let turns = 0; turns < 20 && steps.length === 0; turns += 1) await clock.advance(50);
  expect(await finalCalls(frame)).toMatchObject([{ status: "succeeded" }, { status: "succeeded" }]);
  expect(steps).toHaveLength(1);
});
