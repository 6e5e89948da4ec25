import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { bodyDigest } from "../common/digest.ts";
import { createIds } from "../common/ids.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { BodyOf } from "../journal/bodies.ts";
import { CHAIN_START, chainHasher, rowHash } from "../journal/chain.ts";
import { eventId, eventsOf } from "../journal/log-row.ts";
import type { EngineParts } from "../parts.ts";
import { Draft } from "./draft.ts";
import type { Ledger } from "./ledger.ts";
import type { CallRecord } from "./records/call-record.ts";
import type { ConfirmationRecord } from "./records/confirmation-record.ts";
import type { FrameRecord } from "./records/frame-record.ts";
import type { SessionRecord } from "./records/session-record.ts";

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

test("a new session is created at version 0, with the first line of its log", () => {
  const commit = newDraft().toCommit();
  const { hash } = commit.log;
  const body = '{"events":[]}';
  const digest = bodyDigest(ledger.digestKey, body);
  expect(commit).toEqual({
    session: { key: "s", version: 0, create: name },
    change: { nextSeq: 1, open: 0, ready: 0, bytes: 0, chain: { n: 1, hash }, updatedAt: NOW },
    writes: [],
    log: { session: "s", n: 1, at: NOW, kinds: [], digest, hash, events: 0, body },
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
    chain: { n: 7, hash: "h7" },
    createdAt: 1,
    updatedAt: 2,
  };
  const draft = new Draft(parts, NOW, session);
  draft.event({ author: "bot", invocationId: "i1" });
  draft.journal("run-cancelled", { invocation: "i1", reason: "noted" });
  const { session: target, change, writes, log } = draft.toCommit();
  expect(target).toEqual({ key: "s", version: 7, head: "h7" });
  const [event] = (JSON.parse(log.body ?? "") as { readonly events: readonly unknown[] }).events;
  const bytes = 100 + 512 + Buffer.byteLength(JSON.stringify(event));
  expect(change).toMatchObject({ nextSeq: 13, open: 3, bytes, chain: { n: 8 } });
  expect(writes).toEqual([]);
  expect(log).toMatchObject({ n: 8, session: "s", events: 12, kinds: ["run-cancelled"] });
  expect(log.hash).toBe(rowHash(parts.hasher, "h7", log, 0));
});

test("events are stamped with the ledger's time and order, whatever the draft of them says", () => {
  const draft = newDraft();
  const forged = { author: "bot", invocationId: "i1", timestamp: 5, id: "own id" };
  expect(draft.event(forged)).toMatchObject({ timestamp: NOW, id: "own id" });
  draft.event({ author: "user", invocationId: "i1" });
  expect(draft.events.map(({ author }) => author)).toEqual(["bot", "user"]);
  expect(draft.events[1]?.id).toBe(eventId({ session: "s", n: 1, at: NOW }, 1));
  expect(eventsOf(draft.toCommit().log)).toEqual(draft.events);
});

test("an event is read from its line as it was given, whatever the line says of it besides", () => {
  const draft = newDraft();
  const args = { amount: 5 };
  const ask = { id: "q1", call: { id: "c1", name: "pay", args }, hint: "Pay 5?" };
  const body = { confirmation: "q1", call: "s.c1", tool: "pay", args, hint: "Pay 5?" };
  draft.journal("confirmation-requested", body as unknown as BodyOf<"confirmation-requested">);
  const others = [
    { ...ask, id: "q2" },
    { ...ask, hint: "Pay 6?" },
    { ...ask, call: { ...ask.call, args: { amount: 6 } } },
    { ...ask, call: { ...ask.call, name: "sell" } },
    { ...ask, call: { ...ask.call, id: "c2" } },
  ];
  const by = [
    { author: "bot", invocationId: "i1" },
    { author: "bot", invocationId: "i2" },
    { author: "user", invocationId: "i2" },
  ] as const;
  for (const who of by) for (const one of [ask, ...others]) draft.event({ ...who, asks: [one] });
  expect(draft.toCommit().log.body?.split('{"id":"q1"}')).toHaveLength(4);
  expect(draft.events.map(({ asks }) => asks?.[0])).toEqual(by.flatMap(() => [ask, ...others]));
  expect(eventsOf(draft.toCommit().log)).toEqual(draft.events);
});

test("what happened is one line of the log, hashed over the digest of its body", () => {
  const draft = newDraft()
    .journal("session-imported", { by: "ana", events: 1 })
    .journal("run-cancelled", { invocation: "i", reason: "b" });
  // Its time and its id are told by the line.
  const { timestamp: _at, id: _id, ...event } = draft.event({ author: "bot", invocationId: "i" });
  const text = JSON.stringify(event);
  const { log, change } = draft.toCommit();
  const body = `{"records":[{"by":"ana","events":1},{"invocation":"i","reason":"b"}],"events":[${text}]}`;
  expect(log).toMatchObject({ body, digest: bodyDigest(ledger.digestKey, body) });
  expect(log.kinds).toEqual(["session-imported", "run-cancelled"]);
  expect(log.hash).toBe(rowHash(parts.hasher, CHAIN_START, log, 0));
  expect(change.chain).toEqual({ n: 1, hash: log.hash });
});

test("nothing is added to what has a hash", () => {
  const draft = newDraft();
  draft.toCommit();
  expect(() => draft.journal("run-cancelled", { invocation: "i", reason: "b" })).toThrow("already made");
  expect(() => draft.event({ author: "bot", invocationId: "i" })).toThrow("already made");
});

test("open questions are counted: one more when asked, one fewer when closed, and only then", () => {
  const draft = newDraft();
  const confirmation = { id: "c", status: "requested" } as ConfirmationRecord;
  draft.insertConfirmation(confirmation).insertConfirmation(confirmation);
  expect(draft.open).toBe(2);
  const approved = draft.moveConfirmation(confirmation, "approve");
  expect(draft.open).toBe(1);
  draft.moveConfirmation(approved, "withdraw");
  draft.changeConfirmation(confirmation, { shownVersion: 2 });
  expect(draft.toCommit().change.open).toBe(1);
});

test("ready frames are counted: those that are left ready, until somebody takes them", () => {
  const draft = newDraft();
  const frame = { id: "f", status: "ready" } as FrameRecord;
  draft.insertFrame(frame).insertFrame({ ...frame, status: "stepping" });
  draft.moveFrame({ ...frame, status: "waiting" }, "complete");
  draft.changeFrame(frame, { cursor: null });
  expect(draft.ready).toBe(2);
  draft.moveFrame(draft.moveFrame(frame, "step"), "finish");
  expect(draft.toCommit().change.ready).toBe(1);
  expect(draft.sessionAfter.ready).toBe(1);
});

const call = { id: "c", status: "waiting", attempt: 0, owner: "gone" } as CallRecord;

test("a move is written from the status that was seen, by all its commands at once", () => {
  const draft = newDraft();
  const after = draft.moveCall(call, ["approve", "claim"], { attempt: 1, owner: "me" });
  const set = { status: "executing", attempt: 1, owner: "me" };
  expect(draft.toCommit().writes).toEqual([
    { kind: "call-update", id: "c", from: "waiting", attempt: 0, set },
  ]);
  expect(after).toEqual({ ...call, ...set });
  expect(draft.moveCall(after, "release", { owner: null })).toEqual({ id: "c", status: "ready", attempt: 1 });
});

test.each<[string, (draft: Draft) => unknown]>([
  ['Call c is waiting; "claim" is not possible.', (draft) => draft.moveCall(call, "claim")],
  [
    'Call c is ready; "settle-retry" is not possible.',
    (draft) => draft.moveCall(call, ["approve", "settle-retry"]),
  ],
  [
    'Confirmation q is denied; "approve" is not possible.',
    (draft) => draft.moveConfirmation({ id: "q", status: "denied" } as ConfirmationRecord, "approve"),
  ],
  [
    'Frame f is done; "step" is not possible.',
    (draft) => draft.moveFrame({ id: "f", status: "done" } as FrameRecord, "step"),
  ],
  ["A call cannot start as ready: c.", (draft) => draft.insertCall({ ...call, status: "ready" })],
  [
    "A confirmation cannot start as approved: q.",
    (draft) => draft.insertConfirmation({ id: "q", status: "approved" } as ConfirmationRecord),
  ],
  [
    "A frame cannot start as done: f.",
    (draft) => draft.insertFrame({ id: "f", status: "done" } as FrameRecord),
  ],
])("%s is a bug: it throws, and nothing is written", (message, move) => {
  const draft = newDraft();
  expect(() => move(draft)).toThrow(expect.objectContaining({ code: "internal", message }) as Error);
  expect(draft.toCommit()).toEqual(newDraft().toCommit());
});

// Compiled, never run: no other way leads to a status.
export function refusedByTheCompiler(
  draft: Draft,
  confirmation: ConfirmationRecord,
  frame: FrameRecord,
): void {
  // @ts-expect-error: rows with a status are not written as they are
  draft.write({ kind: "call-update", id: "c", from: "waiting", attempt: 0, set: { status: "ready" } });
  // @ts-expect-error: a change has no status
  draft.changeCall(call, { status: "ready" });
  // @ts-expect-error: nor has what changes with a move
  draft.moveCall(call, "approve", { status: "ready" });
  // @ts-expect-error: a change has no status
  draft.changeConfirmation(confirmation, { status: "approved" });
  // @ts-expect-error: a change has no status
  draft.changeFrame(frame, { status: "ready" });
}

test("what is acted upon at once is synced, what is claimed names its owner, what is deleted is dated", () => {
  const commit = newDraft().sync().claimedBy("me").delete().toCommit();
  expect(commit).toMatchObject({ sync: true, owner: "me", change: { deletedAt: NOW } });
});
