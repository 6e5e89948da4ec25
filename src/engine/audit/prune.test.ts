import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { OutcomeUnknown } from "../calls/call-context.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { partsOf, receiveMessage } from "../index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { killableEngine } from "../testing/execution.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const ana = { id: "ana" };

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
});

afterEach(async () => {
  await ledger.close();
});

async function alive(): Promise<readonly string[]> {
  const { items } = await ledger.sessions({ app: "bank" }, { limit: 500 });
  return items.map(({ id }) => id);
}

async function make(id: string): Promise<void> {
  await engine.createSession({ app: "bank", user: "ana", id }, { note: "a note" });
}

test("erases what nothing has happened in for so long, and nothing younger", async () => {
  await make("old");
  await clock.advance(DAY_MS);
  await make("young");
  expect(await engine.prune(DAY_MS)).toBe(0);
  await clock.advance(1);
  expect(await engine.prune(DAY_MS)).toBe(1);
  expect(await alive()).toEqual(["young"]);
  expect(await engine.prune(DAY_MS)).toBe(0);
});

test("works through any number, tells how far it is, and leaves chains that verify", async () => {
  for (let n = 0; n < 250; n++) await make(`s${n}`);
  await clock.advance(2 * DAY_MS);
  const told: number[] = [];
  expect(await engine.prune(DAY_MS, { onPruned: (count) => told.push(count) })).toBe(250);
  expect(told).toEqual([100, 200, 250]);
  expect(await alive()).toEqual([]);
  const [first] = await ledger.journal.streams("", 1);
  expect(await ledger.journal.sessionRecords(first?.key ?? "", { after: 0, limit: 10 })).toMatchObject([
    { kind: "session-pruned", body: { before: expect.any(Number) as number } },
  ]);
  expect(await engine.verify()).toMatchObject({ ok: true, streams: 250 });
});

test("spares sessions in which something waits, runs, or is in doubt, however old", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const ask = engine.gate("ask", { requireConfirmation: true }, async () => 1);
  const asks = engine.gate("asks", {}, async (_args, { confirm }) => (await confirm("sure")).payload ?? null);
  const doubt = engine.gate("doubt", {}, async () => {
    throw new OutcomeUnknown("timed out");
  });
  const slow = engine.gate("slow", {}, () => promise);
  const waiting = await ask({}, { key: "waiting", by: ana });
  const ready = await ask({}, { key: "ready", by: ana });
  await asks({}, { key: "suspended", by: ana });
  await doubt({}, { key: "unknown", by: ana });
  const running = slow({}, { key: "executing", by: ana });
  if (ready.status !== "pending" || waiting.status !== "pending") throw new Error("Not pending.");
  await new Engine({ ledger, clock }).approve(ready.confirmation.id, { by: ana });
  await clock.advance(100 * DAY_MS);
  expect(await engine.prune(DAY_MS)).toBe(0);
  resolve("done");
  await running;
  await clock.advance(2 * DAY_MS);
  expect(await engine.prune(DAY_MS)).toBe(1);
});

test("leaves a session alone that became busy between the list and the erasure", async () => {
  await make("s1");
  await make("s2");
  await clock.advance(2 * DAY_MS);
  const { engine: pruning, watched } = killableEngine(ledger, clock);
  watched.intercept("sessions", async (pass) => {
    const keys = await pass();
    await receiveMessage(partsOf(engine), {
      session: { app: "bank", user: "ana", id: "s1" },
      event: { author: "user", invocationId: "i1" },
      frame: { kind: "llm", agent: "bot", path: ["bot"] },
    });
    return keys;
  });
  expect(await pruning.prune(DAY_MS)).toBe(1);
  expect(await alive()).toEqual(["s1"]);
});
