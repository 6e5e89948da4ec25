import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { Engine } from "../engine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { killableEngine, type WatchedLedger } from "../testing/execution.ts";
import { parseHead } from "./checkpoints.ts";
import type { Verification } from "./verify.ts";

const ana = { id: "ana" };
const WHILE_MS = 3 * 60_000;

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;
let engine: Engine;
let history: string;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  ({ engine, watched } = killableEngine(ledger, clock, { secret: "a secret", onNotice: () => {} }));
  history = "1";
  watched.intercept("owners.history", () => Promise.resolve({ id: history, claimsInMs: 0 }));
  engine.gate("pay", { requireConfirmation: true }, async () => "paid");
});

afterEach(async () => {
  await ledger.close();
});

async function ask(key: string): Promise<void> {
  const pay = engine.gate(`pay ${key}`, { requireConfirmation: true }, async () => "paid");
  await pay({}, { key, by: ana });
}

/** Seals, and the ledger loses the checkpoint. */
async function sealInVain(): Promise<void> {
  watched.intercept("journal.seal", () => Promise.resolve(true));
  await engine.head();
  watched.intercept("journal.seal", (go) => go());
}

async function verified(): Promise<Pick<Verification, "faults" | "cannotDetect">> {
  const { faults, cannotDetect } = await engine.verify();
  return { faults, cannotDetect: cannotDetect.filter((sentence) => sentence.includes("failover")) };
}

/** One checkpoint is there; one is gone, and a record names it. */
async function loseCheckpoint(): Promise<void> {
  await engine.ready();
  await ask("first");
  await engine.head();
  await ask("second");
  await sealInVain();
  await ask("third");
}

test("a checkpoint that went with a server is named by the next one, and is no fault", async () => {
  await loseCheckpoint();
  history = "2";
  await engine.head();
  expect(await verified()).toEqual({
    faults: [],
    cannotDetect: [expect.stringMatching(/^Removals hidden by a failover\. Checkpoint 2 says .* failover/)],
  });
  await ask("fourth");
  await engine.head();
  expect((await verified()).faults).toEqual([]);
});

test("the head of a checkpoint that tells of lost ones can be kept elsewhere, as any other", async () => {
  await loseCheckpoint();
  history = "2";
  const head = await engine.head();
  expect(parseHead(head)).toEqual({ k: 2, hash: head.slice(2) });
  expect((await engine.verify({ head })).faults).toEqual([]);
});

test("a checkpoint that is gone while the server is the same stays a fault", async () => {
  await loseCheckpoint();
  await engine.head();
  expect((await verified()).faults).toEqual([
    expect.objectContaining({ what: expect.stringContaining("is missing") as unknown }),
  ]);
});

test("nor is it excused long after the server was replaced", async () => {
  await engine.ready();
  await ask("before");
  history = "2";
  await engine.head();
  await clock.advance(WHILE_MS);
  await loseCheckpoint();
  await engine.head();
  expect((await verified()).faults).toHaveLength(1);
});

test("what a checkpoint says of lost ones is part of its hash", async () => {
  await loseCheckpoint();
  history = "2";
  await engine.head();
  watched.intercept("journal.checkpoints", async (go) => {
    const read = (await go()) as Awaited<ReturnType<Ledger["journal"]["checkpoints"]>>;
    return read.map((one) => ({ ...one, hash: one.hash.replace(/^2\./, "3.") }));
  });
  expect((await verified()).faults).toContainEqual({
    where: "checkpoint 2",
    what: "its hash does not match the checkpoint before it",
  });
});
