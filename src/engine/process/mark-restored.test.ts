import { afterEach, beforeEach, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { GatedFunction, GateOptions } from "../gate/gate.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { tryApprove } from "../testing/try-decide.ts";

const ana = { id: "ana" };
const operator = { by: { id: "local:ops", kind: "local" }, via: "cli" } as const;

let clock: ManualClock;
let ledger: Ledger;
/** Decides, and hosts nothing. */
let engine: Engine;
let entered: number;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
  entered = 0;
});

afterEach(async () => {
  await ledger.close();
});

function hostIn(host: Engine, options: GateOptions<object> = {}): GatedFunction<object, number> {
  return host.gate("pay", { requireConfirmation: true, ...options }, async () => ++entered);
}

/** A call that waits, and the id of its question. */
async function ask(key: string, options: GateOptions<object> = {}): Promise<string> {
  const asked = await hostIn(new Engine({ ledger, clock }), options)({}, { key, by: ana });
  if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
  return asked.confirmation.id;
}

async function callOf(confirmation: string): Promise<CallRecord | undefined> {
  return (await ledger.load({ confirmation }))?.call;
}

test("what was approved and had not begun becomes unknown, and is not run by whoever hosts it", async () => {
  const [approved, waits] = [await ask("approved"), await ask("waits")];
  await engine.approve(approved, { by: ana });
  expect(await engine.markRestored(operator)).toEqual({ sessions: 2, calls: 1, waiting: 1, grants: 0 });
  const host = new Engine({ ledger, clock });
  hostIn(host);
  await host.work({ once: true });
  expect(entered).toBe(0);
  expect(await callOf(approved)).toMatchObject({ status: "unknown", attempt: 0 });
  expect(await callOf(waits)).toMatchObject({ status: "waiting" });
  const journal = await ledger.journal.records({ after: 0, limit: 99 });
  const record = journal.find(({ kind }) => kind === "call-unknown");
  expect(record?.body).toMatchObject({
    by: { id: "local:ops", kind: "local" },
    via: "cli",
    reason: expect.stringContaining("restored") as unknown,
  });
  expect(await engine.verify()).toMatchObject({ ok: true });
});

test("a question that was open says that it may have been decided since, once, and what was seen before is stale", async () => {
  const waits = await ask("waits");
  for (let times = 0; times < 2; times++)
    expect(await engine.markRestored(operator)).toEqual({ sessions: 1, calls: 0, waiting: 1, grants: 0 });
  const { confirmation } = (await ledger.load({ confirmation: waits })) ?? {};
  expect(confirmation).toMatchObject({ status: "requested", shownVersion: 2 });
  expect(
    confirmation?.shown.why.filter((reason) => reason.startsWith("restored from a backup")),
  ).toHaveLength(1);
  const kinds = (await ledger.journal.records({ after: 0, limit: 99 })).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "confirmation-restored")).toHaveLength(1);
  const host = new Engine({ ledger, clock });
  hostIn(host);
  const stale = await tryApprove(host, waits, { by: ana, version: 1 });
  expect(stale).toMatchObject({ ok: false, code: "stale-version" });
  // As clients do whose wire has no version: they may have shown it before the restore.
  const unseen = await tryApprove(host, waits, { by: ana });
  expect(unseen).toMatchObject({ ok: false, code: "stale-version" });
  const decided = await tryApprove(host, waits, { by: ana, version: 2 });
  if (!decided.ok) throw new Error(decided.message);
  expect(await decided.finished).toMatchObject({ status: "succeeded", result: 1 });
  expect(await engine.verify()).toMatchObject({ ok: true });
});

test("votes from before the restore do not count: nobody has approved what may have run", async () => {
  const approvers = { users: ["bob", "carl"] };
  const people = ["bob", "carl"].map(
    (id) => ({ id, kind: "token", authenticated: true, scopes: ["decide"] }) as const,
  );
  const judge = () =>
    [{ outcome: "confirm", reason: "payments", requirements: [{ from: approvers, count: 2 }] }] as const;
  const server = new Engine({ ledger, clock, policy: judge });
  const pay = hostIn(server);
  await pay({}, { key: "k", by: ana });
  const [open] = (await ledger.confirmations({ state: "open" })).items;
  const [bob, carl] = people;
  if (open === undefined || bob === undefined || carl === undefined) throw new Error("Nobody votes.");
  const { id } = open.confirmation;
  expect(await tryApprove(server, id, { by: bob })).toMatchObject({ ok: true });
  await server.markRestored(operator);
  expect(await tryApprove(server, id, { by: carl, version: 2 })).toMatchObject({ ok: true });
  expect((await ledger.load({ confirmation: id }))?.confirmation).toMatchObject({
    status: "requested",
    votes: [{ person: "carl" }],
  });
  const records = await ledger.journal.records({ after: 0, limit: 99 });
  expect(records.find(({ kind }) => kind === "confirmation-restored")).toMatchObject({
    body: { ended: ["bob"] },
  });
  const last = await tryApprove(server, id, { by: bob, version: 2 });
  if (!last.ok) throw new Error(last.message);
  expect(await last.finished).toMatchObject({ status: "succeeded" });
});

test.each([
  ["retry", { as: "retry" }, { status: "succeeded", result: 1, attempt: 1 }, 1],
  ["it happened", { as: "succeeded", result: 7 }, { status: "succeeded", result: 7, attempt: 0 }, 0],
  ["give up", { as: "failed", error: "gone" }, { status: "failed", attempt: 0 }, 0],
] as const)("a person settles it: %s", async (_, settlement, call, runs) => {
  const approved = await ask("k");
  await engine.approve(approved, { by: ana });
  await engine.markRestored(operator);
  expect(await engine.decisions.settle({ confirmation: approved }, settlement, { by: ana })).toMatchObject({
    ok: true,
  });
  const host = new Engine({ ledger, clock });
  hostIn(host);
  await host.work({ once: true });
  expect(await callOf(approved)).toMatchObject(call);
  expect(entered).toBe(runs);
});

test("what may be repeated is left to run, with its key", async () => {
  const approved = await ask("k", { idempotent: true });
  await engine.approve(approved, { by: ana });
  expect(await engine.markRestored(operator)).toMatchObject({ calls: 0 });
  const host = new Engine({ ledger, clock });
  hostIn(host, { idempotent: true });
  await host.work({ once: true });
  expect(await callOf(approved)).toMatchObject({ status: "succeeded" });
});

test("said twice, or after a crash halfway, it does what is left and nothing else", async () => {
  for (let n = 0; n < 103; n++) await engine.approve(await ask(`k${n}`), { by: ana });
  const told: number[] = [];
  expect(await engine.markRestored(operator, ({ sessions }) => told.push(sessions))).toMatchObject({
    calls: 103,
  });
  expect(told).toEqual([100, 103]);
  expect(await engine.markRestored(operator)).toEqual({ sessions: 103, calls: 0, waiting: 0, grants: 0 });
});

test("a call that somebody began meanwhile is theirs", async () => {
  const approved = await ask("k");
  const host = new Engine({ ledger, clock });
  const { promise, resolve } = Promise.withResolvers<string>();
  host.gate("pay", { requireConfirmation: true }, () => promise);
  await host.approve(approved, { by: ana });
  expect(await engine.markRestored(operator)).toMatchObject({ calls: 0 });
  resolve("paid");
  await host.finished((await callOf(approved))?.id ?? "");
  expect(await callOf(approved)).toMatchObject({ status: "succeeded", result: "paid" });
});
