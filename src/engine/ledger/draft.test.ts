import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { bodyDigest } from "../common/digest.ts";
import { createIds } from "../common/ids.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { CHAIN_START, chainHasher, recordHash } from "../journal/chain.ts";
import type { EngineParts } from "../parts.ts";
import { Draft } from "./draft.ts";
import type { Ledger } from "./ledger.ts";
import type { ConfirmationRecord, FrameRecord, JournalRecord, SessionRecord } from "./records.ts";

const name = { app: "bank", user: "ana", id: "s1" };
const NOW = 1_800_000_000_000;

let ledger: Ledger;
let parts: EngineParts;

beforeEach(async () => {
  const clock = new ManualClock(NOW);
  ledger = await createLedger("memory:", { clock });
  parts = {
    ledger,
    clock,
    newId: createIds(),
    hasher: chainHasher(undefined),
    knownSeal: { k: 0 },
  } as unknown as EngineParts;
});

afterEach(async () => {
  await ledger.close();
});

function newDraft(): Draft {
  return new Draft(parts, NOW, { key: "s", create: name });
}

test("a new session is created, at version nought, with an empty chain", () => {
  expect(newDraft().toCommit()).toEqual({
    session: { key: "s", version: 0, create: name },
    change: { nextSeq: 1, open: 0, ready: 0, bytes: 0, chain: { n: 0, hash: CHAIN_START }, updatedAt: NOW },
    writes: [],
    sync: false,
  });
});

test("a known session is guarded by the version and the chain head that were seen, and goes on from its counters", () => {
  const session: SessionRecord = {
    ...name,
    key: "s",
    version: 7,
    nextSeq: 12,
    open: 3,
    ready: 0,
    bytes: 100,
    chain: { n: 5, hash: "h5" },
    createdAt: 1,
    updatedAt: 2,
  };
  const draft = new Draft(parts, NOW, session);
  draft.event({ author: "bot", invocationId: "i1" });
  draft.journal("run-cancelled", { invocation: "i1", reason: "noted" });
  const { session: target, change, writes } = draft.toCommit();
  expect(target).toEqual({ key: "s", version: 7, head: "h5" });
  const bytes = 100 + 512 + Buffer.byteLength(draft.eventTexts[0] ?? "");
  expect(change).toMatchObject({ nextSeq: 13, open: 3, bytes, chain: { n: 6 } });
  expect(writes).toMatchObject([
    { kind: "event", seq: 12 },
    { kind: "journal", record: { n: 6, stream: "s" } },
  ]);
});

test("events are stamped with the ledger's time and order, whatever the draft of them says", () => {
  const draft = newDraft();
  const forged = { author: "bot", invocationId: "i1", timestamp: 5, id: "own id" };
  expect(draft.event(forged)).toMatchObject({ timestamp: NOW, id: "own id" });
  draft.event({ author: "user", invocationId: "i1" });
  expect(draft.events.map(({ author }) => author)).toEqual(["bot", "user"]);
  expect(draft.events[1]?.id).toMatch(/^[0-9a-z]{26}$/);
});

test("journal records are chained, each to the one before it, over the digest of its body", () => {
  const draft = newDraft()
    .journal("session-imported", { by: "ana", events: 1 })
    .journal("run-cancelled", { invocation: "i", reason: "b" });
  const { writes, change } = draft.toCommit();
  const records = writes.flatMap((write) => (write.kind === "journal" ? [write.record] : []));
  const [first, second] = records as JournalRecord[];
  if (first === undefined || second === undefined) throw new Error("Two records.");
  expect(first.bodyDigest).toBe(bodyDigest(ledger.digestKey, '{"by":"ana","events":1}'));
  expect(first.hash).toBe(recordHash(parts.hasher, CHAIN_START, first, 0));
  expect(second.hash).toBe(recordHash(parts.hasher, first.hash, second, 0));
  expect(change.chain).toEqual({ n: 2, hash: second.hash });
});

test("open questions are counted: one more when asked, one fewer when closed, and only then", () => {
  const draft = newDraft();
  const confirmation = { id: "c" } as ConfirmationRecord;
  draft
    .write({ kind: "confirmation-insert", confirmation })
    .write({ kind: "confirmation-insert", confirmation });
  expect(draft.open).toBe(2);
  draft.write({ kind: "confirmation-update", id: "c", from: "requested", set: { status: "approved" } });
  expect(draft.open).toBe(1);
  draft.write({ kind: "confirmation-update", id: "c", from: "approved", set: { status: "cancelled" } });
  draft.write({ kind: "confirmation-update", id: "c", from: "requested", set: { shownVersion: 2 } });
  expect(draft.toCommit().change.open).toBe(1);
});

test("ready frames are counted: those that are left ready, until somebody takes them", () => {
  const draft = newDraft();
  const frame = { id: "f", status: "ready" } as FrameRecord;
  draft.write({ kind: "frame-insert", frame });
  draft.write({ kind: "frame-insert", frame: { ...frame, status: "stepping" } });
  draft.write({ kind: "frame-update", id: "f", from: "waiting", set: { status: "ready" } });
  draft.write({ kind: "frame-update", id: "f", from: "ready", set: { cursor: null } });
  expect(draft.ready).toBe(2);
  draft.write({ kind: "frame-update", id: "f", from: "ready", set: { status: "stepping" } });
  draft.write({ kind: "frame-update", id: "f", from: "stepping", set: { status: "done" } });
  expect(draft.toCommit().change.ready).toBe(1);
  expect(draft.sessionAfter.ready).toBe(1);
});

test("what is acted upon at once is synced, what is claimed names its owner, what is deleted is dated", () => {
  const commit = newDraft().sync().claimedBy("me").delete().toCommit();
  expect(commit).toMatchObject({ sync: true, owner: "me", change: { deletedAt: NOW } });
});
