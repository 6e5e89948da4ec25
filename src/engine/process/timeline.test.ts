import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { finishFrame, partsOf, receiveMessage, recordTurn } from "../index.ts";
import type { Commit, CommitOutcome } from "../ledger/commit.ts";
import type { CallRecord, FrameRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import {
  hostOf,
  killableEngine,
  message,
  modelSays,
  planned,
  toolOf,
  until,
  type WatchedLedger,
} from "../testing/execution.ts";
import { loseCommit, setsStatus } from "../testing/forgetful.ts";
import { approver, BOT, Payments, SCOPES } from "../testing/granting.ts";
import type { LedgerNotice } from "./notice.ts";
import { listNotices } from "./notices.ts";
import { History } from "./timeline.ts";

const LEASE_MS = 15_000;
const HEARTBEAT_MS = 5_000;
const ana = { id: "ana" };

let clock: ManualClock;
let ledger: Ledger;
let watched: WatchedLedger;
let engine: Engine;
let notices: LedgerNotice[];
let server: { history: string; claimsFrom: number };

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  notices = [];
  server = { history: "1", claimsFrom: Number.NEGATIVE_INFINITY };
  ({ engine, watched } = killableEngine(ledger, clock, { onNotice: (notice) => notices.push(notice) }));
  onServer();
  await runForLong();
});

afterEach(async () => {
  await ledger.close();
});

/** Judges claims as PostgreSQL does: by what the owner has confirmed, and when. */
function onServer(isLost: (commit: Commit) => boolean = () => false): void {
  let confirmed: string | undefined;
  watched.intercept("owners.history", () =>
    Promise.resolve({ id: server.history, claimsInMs: Math.max(0, server.claimsFrom - clock.now()) }),
  );
  watched.intercept("owners.beat", (go, [owner]) => {
    ({ history: confirmed } = owner as { history?: string });
    return go();
  });
  watched.intercept("commit", (go, [commit]) => {
    const { owner } = commit as Commit;
    const barred = confirmed !== server.history || clock.now() < server.claimsFrom;
    if (owner !== undefined && barred) {
      const outcome: CommitOutcome = { ok: false, conflict: "history" };
      return Promise.resolve(outcome);
    }
    return isLost(commit as Commit) ? Promise.resolve({ ok: true }) : go();
  });
}

function promote(): void {
  server = { history: "2", claimsFrom: clock.now() + LEASE_MS };
}

async function runForLong(): Promise<void> {
  let entered = false;
  const long = engine.gate("long", {}, async () => {
    entered = true;
    return new Promise<never>(() => {});
  });
  long({}, { key: "long", by: ana }).catch(() => {});
  await until(clock, () => entered);
}

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    await clock.advance(100);
    for (let turn = 0; turn < 5; turn += 1) await clock.advance(0);
  }
}

async function stored(): Promise<CallRecord> {
  const snapshot = await ledger.load({ session: { app: "gate:pay", user: "gate", id: "k" } });
  const [call] = await ledger.calls([`${snapshot?.session.key}.k`]);
  if (call === undefined) throw new Error("There is no call.");
  return call;
}

async function openQuestion(): Promise<string> {
  const [first] = (await ledger.confirmations({ state: "open" })).items;
  return first?.confirmation.id ?? "";
}

/** A gated call that was approved here, and whose approval and claim the standby does not have. */
async function loseClaim(body: () => Promise<string>): Promise<void> {
  const pay = engine.gate("pay", { requireConfirmation: true }, body);
  pay({}, { key: "k", by: ana }).catch(() => {});
  await until(clock, async () => (await openQuestion()) !== "");
  onServer(setsStatus("call-update", "executing"));
  await engine.approve(await openQuestion(), { by: ana });
  onServer();
}

describe("after a failover", () => {
  test("a claim waits until one lease is over, and then is made", async () => {
    promote();
    let ran = false;
    const pay = engine.gate("pay", {}, async () => {
      ran = true;
      return "paid";
    });
    const paid = pay({}, { key: "k", by: ana });
    await pass(LEASE_MS - 100);
    expect(ran).toBe(false);
    await pass(HEARTBEAT_MS + 100);
    expect(await paid).toMatchObject({ status: "succeeded", result: "paid" });
    expect(notices.map(({ kind }) => kind)).toEqual(["new-history"]);
  });

  test("a call that runs, and whose claim is gone, becomes unknown before anybody may claim", async () => {
    await loseClaim(() => new Promise(() => {}));
    expect((await stored()).status).toBe("waiting");
    promote();
    await pass(HEARTBEAT_MS + 100);
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
    expect(await openQuestion()).toBe("");
    const [claim] = notices.filter(({ kind }) => kind === "lost-claim");
    expect(claim?.details).toMatchObject({ tool: "pay", outcome: "running", attempt: 1 });
  });

  test("a call that has ended, and whose claim is gone, becomes unknown with how it ended", async () => {
    // Its end is lost with its claim.
    const pay = engine.gate("pay", { requireConfirmation: true }, async () => "paid");
    pay({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, async () => (await openQuestion()) !== "");
    onServer(setsStatus("call-update", "executing", "succeeded"));
    const commits = watched.count("commit");
    await engine.approve(await openQuestion(), { by: ana });
    await until(clock, () => watched.count("commit") >= commits + 2);
    onServer();
    promote();
    await pass(HEARTBEAT_MS + 100);
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
    const journal = await ledger.journal.records({ after: 0, limit: 500 });
    const unknown = journal.find(({ kind }) => kind === "call-unknown");
    expect(unknown?.body).toMatchObject({
      outcome: "succeeded",
      result: { result: "paid" },
    });
    expect(notices.map(({ kind }) => kind)).toContain("lost-commits");
  });

  test("a call that asked, was approved and ran on, all of which is gone, is not asked about again", async () => {
    let ran = 0;
    const pay = engine.gate("pay", {}, async (_args, { toolConfirmation, requestConfirmation }) => {
      if (toolConfirmation === undefined) {
        requestConfirmation();
        return "asking";
      }
      ran += 1;
      return "paid";
    });
    pay({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, async () => (await openQuestion()) !== "");
    const asked = await openQuestion();
    const before = await stored();
    await engine.approve(asked, { by: ana });
    await until(clock, () => ran === 1);
    await until(clock, async () => (await stored()).status === "succeeded");
    // The standby has the first attempt's claim, and nothing that came later.
    const { owner: _none, ...earlier } = { ...before, status: "executing" as const };
    watched.intercept("calls", async (go) => {
      const calls = (await go()) as readonly CallRecord[];
      return calls.map((call) => (call.id === earlier.id ? { ...earlier, owner: "another" } : call));
    });
    const doubts: Commit[] = [];
    watched.intercept("load", async (go) => {
      const snapshot = (await go()) as Awaited<ReturnType<Ledger["load"]>>;
      return snapshot?.call?.id === earlier.id
        ? { ...snapshot, call: { ...earlier, owner: "another" } }
        : snapshot;
    });
    watched.intercept("commit", (_go, [commit]) => {
      doubts.push(commit as Commit);
      return Promise.resolve({ ok: true });
    });
    promote();
    await pass(HEARTBEAT_MS + 100);
    expect(doubts.flatMap(({ writes }) => writes)).toContainEqual(
      expect.objectContaining({
        kind: "call-update",
        set: expect.objectContaining({ status: "unknown", attempt: 2 }) as unknown,
      }),
    );
  });

  test("an end that is gone is recorded again, under the claim that is there", async () => {
    const pay = engine.gate("pay", {}, async () => "paid");
    loseCommit(watched, setsStatus("call-update", "succeeded"));
    pay({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, () => watched.count("commit") >= 3);
    onServer();
    promote();
    await pass(HEARTBEAT_MS + 100);
    expect(await stored()).toMatchObject({ status: "succeeded", attempt: 1, result: "paid" });
  });

  test("a turn whose commit is refused waits, and the model is not asked again", async () => {
    const session = { app: "shop", user: "ana", id: "s1" };
    const said = Promise.withResolvers<void>();
    let steps = 0;
    const looked: number[] = [];
    const look = toolOf(async () => looked.push(steps), {});
    const step = async (frame: FrameRecord): Promise<void> => {
      steps += 1;
      if (frame.turn > 0) {
        await finishFrame(partsOf(engine), frame, { status: "done", event: modelSays("done") });
        return;
      }
      await said.promise;
      const calls = [planned("c", "look", { kind: "run", tool: look })];
      await recordTurn(partsOf(engine), frame, { event: modelSays("looking"), calls });
    };
    engine.host(hostOf("shop", { look }, step));
    const received = await receiveMessage(partsOf(engine), message(session, "Hello"));
    if (received.ok) partsOf(engine).executions.step(received.frame);
    await until(clock, () => steps === 1);
    promote();
    said.resolve();
    await pass(LEASE_MS - 100);
    expect({ steps, looked }).toEqual({ steps: 1, looked: [] });
    await pass(2 * HEARTBEAT_MS);
    expect({ steps, looked }).toEqual({ steps: 2, looked: [1] });
  });

  test("claims are asserted before it is told what was lost: nobody waits longer than a lease for them", async () => {
    await loseClaim(() => new Promise(() => {}));
    watched.intercept("journal.sessionRecords", () => new Promise(() => {}));
    promote();
    await pass(HEARTBEAT_MS + 100);
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
  });

  test("many claims that the ledger has are compared in a few statements", async () => {
    const pay = engine.gate("pay", {}, async () => "paid");
    for (let place = 0; place < 40; place += 1) await pay({}, { key: `k${place}`, by: ana });
    watched.intercept("journal.sessionRows", () => new Promise(() => {}));
    promote();
    const before = watched.count("load") + watched.count("calls");
    await pass(HEARTBEAT_MS + 100);
    expect(watched.count("load") + watched.count("calls") - before).toBeLessThan(10);
  });

  test("a comparison that ends after that of a newer promotion does not replace it", async () => {
    const asserting = new Map<string, PromiseWithResolvers<void>>();
    const history = new History({
      ledger: watched.ledger,
      clock,
      leaseMs: LEASE_MS,
      onNew: (id) => {
        const asserted = Promise.withResolvers<void>();
        asserting.set(id, asserted);
        return asserted.promise;
      },
    });
    for (const id of ["1", "2", "3"]) {
      server = { history: id, claimsFrom: Number.NEGATIVE_INFINITY };
      await history.look();
    }
    asserting.get("3")?.resolve();
    await pass(100);
    asserting.get("2")?.resolve();
    await pass(100);
    await history.look();
    expect(history.confirmed).toBe("3");
    expect(history.isBarred).toBe(false);
  });

  test.each([
    { title: "is not taken again: its run is stopped, and says so", repeatable: false, steps: 1, ran: 1 },
    { title: "is taken again where all that ran may be repeated", repeatable: true, steps: 3, ran: 2 },
  ])("a turn that is gone, and whose call ran here, $title", async ({ repeatable, steps, ran }) => {
    const session = { app: "shop", user: "ana", id: "s1" };
    const did = { steps: 0, ran: 0 };
    const note = toolOf(async () => (did.ran += 1), {});
    const step = async (frame: FrameRecord): Promise<void> => {
      did.steps += 1;
      if (frame.turn > 0) {
        await finishFrame(partsOf(engine), frame, { status: "done", event: modelSays("done") });
        return;
      }
      const calls = [{ ...planned("c", "note", { kind: "run", tool: note }), repeatable }];
      await recordTurn(partsOf(engine), frame, { event: modelSays("noting"), calls });
    };
    engine.host(hostOf("shop", { note }, step));
    onServer(({ writes }) => writes.some((write) => write.kind === "call-insert"));
    const received = await receiveMessage(partsOf(engine), message(session, "Hello"));
    if (received.ok) partsOf(engine).executions.step(received.frame);
    await until(clock, () => did.ran === 1);
    onServer();
    promote();
    await pass(LEASE_MS + 4 * HEARTBEAT_MS);
    expect(did).toEqual({ steps, ran });
    const { key = "" } = (await ledger.load({ session }))?.session ?? {};
    expect(await ledger.liveFrames(key)).toEqual([]);
    const told = (await ledger.events(key)).filter(({ errorCode }) => errorCode === "lost-commits");
    expect(told).toHaveLength(repeatable ? 0 : 1);
    expect(notices.filter(({ kind }) => kind === "lost-claim")).toMatchObject([
      { details: { tool: "note" } },
    ]);
  });

  test("a process that is idle notices when it seals, and says what it knows", async () => {
    const told: string[] = [];
    const onNotice = ({ kind }: LedgerNotice): unknown => told.push(kind);
    const { engine: idle, watched: eyes } = killableEngine(ledger, clock, { onNotice });
    let history = "1";
    eyes.intercept("owners.history", () => Promise.resolve({ id: history, claimsInMs: 0 }));
    const pay = idle.gate("pay", { requireConfirmation: true }, async () => "paid");
    pay({}, { key: "k", by: ana }).catch(() => {});
    await until(clock, async () => (await openQuestion()) !== "");
    const isLost = setsStatus("call-update", "executing", "succeeded");
    let lost = 0;
    eyes.intercept("commit", (go, [commit]) => {
      if (!isLost(commit as Commit)) return go();
      lost += 1;
      return Promise.resolve({ ok: true });
    });
    await idle.approve(await openQuestion(), { by: ana });
    await until(clock, () => lost === 2);
    await pass(3 * HEARTBEAT_MS);
    eyes.intercept("commit", (go) => go());
    history = "2";
    await idle.work({ once: true });
    await pass(100);
    expect(await stored()).toMatchObject({ status: "unknown", attempt: 1 });
    expect(told).toEqual(["new-history", "lost-claim", "lost-commits", "lost-commits"]);
  });

  test("a process that begins knows of nothing, and claims when the others may", async () => {
    promote();
    const late = new Engine({ ledger: watched.ledger, clock });
    const pay = late.gate("pay", {}, async () => "paid");
    const paid = pay({}, { key: "k", by: ana });
    await pass(LEASE_MS + HEARTBEAT_MS);
    expect(await paid).toMatchObject({ status: "succeeded" });
  });
});

test("commits that the ledger lost are reported: which session, and what they were", async () => {
  const pay = engine.gate("pay", {}, async () => "paid");
  loseCommit(watched, setsStatus("call-update", "succeeded"));
  pay({}, { key: "k", by: ana }).catch(() => {});
  await until(clock, () => watched.count("commit") >= 3);
  await pass(HEARTBEAT_MS + 100);
  const { id: call, session } = await stored();
  expect(notices).toEqual([
    {
      kind: "lost-commits",
      message: "the ledger lost an acknowledged commit",
      details: { session, records: ["call-succeeded"], calls: [call] },
    },
  ]);
});

test("notices are stored too, also if the ledger is unreachable at first", async () => {
  watched.intercept("items.put", () => Promise.reject(new Error("away")));
  await loseClaim(() => new Promise(() => {}));
  promote();
  await pass(HEARTBEAT_MS + 100);
  expect(notices.map(({ kind }) => kind)).toContain("lost-claim");
  expect(await listNotices(ledger.items)).toEqual([]);
  watched.lift("items.put");
  await pass(2 * HEARTBEAT_MS);
  const kept = await listNotices(ledger.items);
  expect(new Set(kept.map(({ kind }) => kind))).toEqual(new Set(notices.map(({ kind }) => kind)));
  expect(kept.find(({ kind }) => kind === "lost-claim")?.details).toMatchObject([{ tool: "pay" }]);
  expect(kept.every(({ pid }) => pid === process.pid)).toBe(true);
});

test("commits that a crashed server lost are reported, however many were made since", async () => {
  let reconnects = 0;
  watched.ledger.stats = () => ({
    pool: { size: 1, open: 1, idle: 1, waiting: 0 },
    statements: 0,
    retries: 0,
    reconnects,
  });
  const pay = engine.gate("pay", {}, async () => "paid");
  loseCommit(watched, setsStatus("call-update", "succeeded"));
  pay({}, { key: "k", by: ana }).catch(() => {});
  await until(clock, () => watched.count("commit") >= 3);
  reconnects = 1;
  for (let n = 0; n < 5; n += 1) await pay({}, { key: `later-${n}`, by: ana });
  await pass(HEARTBEAT_MS + 100);
  const { session } = await stored();
  expect(notices.map(({ kind, details }) => [kind, details["session"]])).toEqual([["lost-commits", session]]);
});

test.each(SCOPES)(
  "no grant for the %s outlives a replaced server: its uses or its revocation may be lost",
  async (scope) => {
    const shop = new Payments(ledger, { clock, scope });
    const id = await shop.grant();
    promote();
    await pass(HEARTBEAT_MS);
    expect(await shop.records("grant-revoked")).toMatchObject([
      { grant: id, reason: expect.stringContaining("the database server was replaced") as string },
    ]);
    expect(await shop.pay()).toMatchObject({ status: "pending" });
  },
);

test.each([
  ["the use of a grant", "grant-used", "session"],
  ["the revocation of a grant", "grant-revoked", "session"],
  ["the use of a grant for all sessions", "grant-used", "user"],
  ["the revocation of a grant for all sessions", "grant-revoked", "user"],
] as const)("a ledger that lost %s does not let the grant be used again", async (_, kind, scope) => {
  const shop = new Payments(watched.ledger, { clock, scope });
  const long = shop.engine.gate("longer", {}, async () => new Promise<never>(() => {}));
  const asked = await long({}, { key: "long", by: ana });
  if (asked.status === "pending") await shop.engine.approve(asked.confirmation.id, { by: approver("bob") });
  const id = await shop.grant({ count: 1 });
  watched.intercept("commit", (go, [commit]) => {
    if (!(commit as Commit).log.kinds.includes(kind)) return go();
    watched.lift("commit");
    return Promise.resolve({ ok: true });
  });
  if (kind === "grant-used") {
    const { key } = await shop.pay();
    // The call is gone with the use.
    const claimed = shop.engine.callers.claim({ by: BOT.id, key }, { leaseMs: 1_000 });
    await expect(claimed).rejects.toThrow("You have no call");
  } else await shop.engine.revokeGrant(id, { by: approver("ana") });
  expect(await shop.records(kind)).toEqual([]);
  await pass(2 * HEARTBEAT_MS);
  expect(await shop.records("grant-revoked")).toMatchObject([
    { grant: id, reason: expect.stringContaining("lost") as string },
  ]);
  expect(await shop.pay()).toMatchObject({ status: "pending" });
});
