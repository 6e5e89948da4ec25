import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { finishFrame, partsOf, receiveMessage, recordTurn, spawnFrames } from "../index.ts";
import { type FrameRecord, type Ledger, resumeLedger, suspendLedger } from "../ledger/index.ts";
import { hostOf, message, modelSays, planned, pumped, toolOf } from "../testing/execution.ts";
import type { CallPlan } from "./turns.ts";

const session = { app: "bank", user: "ana", id: "s1" };

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;
let ran: string[];
/** The frames that the engine gave to the host, as agent and turn. */
let stepped: string[];
const look = toolOf(() => {
  ran.push("look");
  return "seen";
});

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
  ran = [];
  stepped = [];
  const step = async ({ agent, turn }: FrameRecord): Promise<void> => void stepped.push(`${agent} ${turn}`);
  engine.host(hostOf("bank", { look }, step));
});

afterEach(() => engine.close());

/** A frame whose model is thinking when the ledger is suspended. */
async function thinking(): Promise<FrameRecord> {
  const received = await receiveMessage(partsOf(engine), message(session, "hello"));
  if (!received.ok) throw new Error(received.code);
  await suspendLedger(ledger.items, {});
  return received.frame;
}

function says(frame: FrameRecord, plan: CallPlan) {
  const turn = { event: modelSays("let me see"), calls: [planned("c1", "look", plan)] };
  return pumped(clock, recordTurn(partsOf(engine), frame, turn));
}

async function resumed(): Promise<readonly string[]> {
  await pumped(clock, engine.work({ once: true }));
  expect(stepped).toEqual([]);
  await resumeLedger(ledger.items);
  await pumped(clock, engine.work({ once: true }));
  return stepped;
}

async function stored({ id }: FrameRecord): Promise<FrameRecord | undefined> {
  return (await ledger.load({ frame: id }))?.frame;
}

test("a model that wants to call something while its ledger is suspended is asked again later", async () => {
  const frame = await thinking();
  expect(await says(frame, { kind: "run", tool: look })).toBeUndefined();
  const after = await stored(frame);
  expect(after).toMatchObject({ status: "ready", turn: 0, calls: [] });
  expect(after?.owner).toBeUndefined();
  expect(await ledger.events(frame.session)).toHaveLength(1);
  expect(await resumed()).toEqual(["bot 0"]);
  expect(ran).toEqual([]);
});

test("a turn that is answered without running anything is stored, and the model is not asked on", async () => {
  const frame = await thinking();
  const turn = await says(frame, { kind: "answer", status: "denied", result: { error: "no" } });
  expect(turn?.frame.status).toBe("ready");
  expect(await stored(frame)).toMatchObject({ status: "ready", turn: 1 });
  expect(await ledger.events(frame.session)).toHaveLength(3);
  expect(await resumed()).toEqual(["bot 1"]);
});

test("a handoff is stored, and the other agent begins later", async () => {
  const frame = await thinking();
  const successor = { kind: "llm", agent: "other", path: ["other"] } as const;
  const end = { status: "done", successor } as const;
  expect(await pumped(clock, finishFrame(partsOf(engine), frame, end))).toBe(true);
  expect((await stored(frame))?.status).toBe("done");
  expect(await resumed()).toEqual(["other 0"]);
});

test("children of a group are stored, and begin later", async () => {
  const frame = await thinking();
  const children = ["a", "b"].map((agent) => ({ kind: "llm", agent, path: [agent], branch: agent }) as const);
  expect(await pumped(clock, spawnFrames(partsOf(engine), frame, { children, cursor: {} }))).toBe(true);
  expect(await stored(frame)).toMatchObject({ status: "waiting", open: 2 });
  expect([...(await resumed())].sort()).toEqual(["a 0", "b 0"]);
});
