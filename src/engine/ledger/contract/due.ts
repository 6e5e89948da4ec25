import type { Write } from "../commit.ts";
import { buildCall, buildFrame, buildQuestion, nameIn, questionId, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const LEASE_MS = 15_000;

const readyCall = (id: string, app: string): Write => ({
  kind: "call-insert",
  call: buildCall("s1", id, { app, status: "ready" }),
});
const readyFrame = (id: string, app: string): Write => ({
  kind: "frame-insert",
  frame: buildFrame("s1", id, { app, status: "ready" }),
});
const heldCall = (id: string, owner: string): Write => ({
  kind: "call-insert",
  call: buildCall("s1", id, { status: "executing", owner }),
});
const heldFrame = (id: string, owner: string): Write => ({
  kind: "frame-insert",
  frame: buildFrame("s1", id, { status: "stepping", owner, branch: id }),
});

export const dueCases: readonly LedgerCase[] = [
  {
    name: "expired confirmations are due, nearest deadline first, and the next deadline is told",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const now = clock.now();
      await writer.commit([
        ...buildQuestion("s1", "third", { confirmation: { expiresAt: now + 300 } }),
        ...buildQuestion("s1", "first", { confirmation: { expiresAt: now + 100 } }),
        ...buildQuestion("s1", "second", { confirmation: { expiresAt: now + 200 } }),
        ...buildQuestion("s1", "never"),
        ...buildQuestion("s1", "answered", { confirmation: { expiresAt: now + 50, status: "approved" } }),
      ]);
      const before = await ledger.due([], 10);
      checkEqual([before.expired, before.nextDeadline, before.now], [[], now + 100, now], "at first");
      await clock.advance(200);
      const later = await ledger.due([], 10);
      checkEqual(later.expired.map(nameIn), ["first", "second"], "expired");
      checkEqual(later.nextDeadline, now + 300, "the next deadline");
      checkEqual((await ledger.due([], 1)).expired.map(nameIn), ["first"], "expired, limited");
      await clock.advance(100);
      const last = await ledger.due([], 10);
      checkEqual("nextDeadline" in last, false, "a next deadline when there is none");
    },
  },
  {
    name: "reminders and escalations are due until people were told, and the next one is told as a deadline",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const now = clock.now();
      const reminders = [{ at: now + 100, sent: false }];
      const escalations = [{ at: now + 200, to: { users: ["cfo"] }, fills: [0], reached: false }];
      await writer.commit([
        ...buildQuestion("s1", "both", { confirmation: { reminders, escalations } }),
        ...buildQuestion("s1", "over", { confirmation: { reminders, status: "denied" } }),
      ]);
      const before = await ledger.due([], 10);
      checkEqual([before.unannounced, before.nextDeadline], [[], now + 100], "at first");
      await clock.advance(100);
      const later = await ledger.due([], 10);
      checkEqual(later.unannounced.map(nameIn), ["both"], "the reminder");
      await writer.commit([
        {
          kind: "confirmation-update",
          id: questionId("s1", "both"),
          from: "requested",
          set: { reminders: [{ at: now + 100, sent: true }] },
        },
      ]);
      const told = await ledger.due([], 10);
      checkEqual([told.unannounced, told.nextDeadline], [[], now + 200], "after the reminder");
      await clock.advance(100);
      checkEqual((await ledger.due([], 10)).unannounced.map(nameIn), ["both"], "the escalation");
    },
  },
  {
    name: "a confirmation that was answered is not due",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit(buildQuestion("s1", "c", { confirmation: { expiresAt: clock.now() + 1 } }));
      await writer.commit([
        {
          kind: "confirmation-update",
          id: questionId("s1", "c"),
          from: "requested",
          set: { status: "denied" },
        },
      ]);
      await clock.advance(10);
      checkEqual((await ledger.due([{ app: "bank" }], 10)).expired, [], "expired");
    },
  },
  {
    name: "ready calls and frames are due only to a process that hosts their app, oldest id first",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([
        readyCall("3", "bank"),
        readyCall("1", "shop"),
        readyCall("2", "bank"),
        readyCall("4", "else"),
        readyFrame("f3", "bank"),
        readyFrame("f1", "shop"),
        readyFrame("f2", "bank"),
        readyFrame("f4", "else"),
      ]);
      const both = await ledger.due([{ app: "bank" }, { app: "shop" }], 10);
      checkEqual(both.readyCalls, ["s1.1", "s1.2", "s1.3"], "calls of two apps");
      checkEqual(both.readyFrames, ["s1.f1", "s1.f2", "s1.f3"], "frames of two apps");
      const two = await ledger.due([{ app: "bank" }, { app: "shop" }], 2);
      checkEqual(
        [two.readyCalls, two.readyFrames],
        [
          ["s1.1", "s1.2"],
          ["s1.f1", "s1.f2"],
        ],
        "two of them",
      );
      const none = await ledger.due([], 10);
      checkEqual([none.readyCalls, none.readyFrames], [[], []], "of no app");
      const ofSession = (await ledger.liveFrames("s1")).map(({ id, status }) => `${id} ${status}`).sort();
      checkEqual(
        ofSession,
        ["s1.f1 ready", "s1.f2 ready", "s1.f3 ready", "s1.f4 ready"],
        "frames of the session",
      );
      checkEqual(await ledger.liveFrames("s2"), [], "frames of another session");
    },
  },
  {
    name: "what belongs to agents that a process does not have is not due to it, and hides nothing that is",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([
        { kind: "call-insert", call: buildCall("s1", "1", { status: "ready", agent: "removed" }) },
        { kind: "call-insert", call: buildCall("s1", "2", { status: "ready", agent: "kept" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "f1", { status: "ready", agent: "removed" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "f2", { status: "ready", agent: "kept" }) },
      ]);
      const { app } = buildCall("s1", "1");
      const kept = await ledger.due([{ app, agents: ["other", "kept"] }], 1);
      checkEqual([kept.readyCalls, kept.readyFrames], [["s1.2"], ["s1.f2"]], "of the agent it has");
      const none = await ledger.due([{ app, agents: [] }], 10);
      checkEqual([none.readyCalls, none.readyFrames], [[], []], "of no agent");
    },
  },
  {
    name: "what an owner held is lost when its lease has run out, whichever app it belongs to",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await ledger.owners.beat({ id: "gone", host: "h", pid: 1 }, LEASE_MS);
      await ledger.owners.beat({ id: "alive", host: "h", pid: 2 }, LEASE_MS * 2);
      await writer.commit([
        heldCall("a", "gone"),
        heldCall("b", "gone"),
        heldCall("c", "alive"),
        { kind: "call-insert", call: buildCall("s1", "d", { status: "succeeded", owner: "gone" }) },
        heldFrame("f", "gone"),
        heldFrame("g", "alive"),
      ]);
      await clock.advance(LEASE_MS - 1);
      const before = await ledger.due([], 10);
      checkEqual([before.lostCalls, before.lostFrames], [[], []], "while the lease runs");
      await clock.advance(1);
      const after = await ledger.due([], 10);
      checkEqual(
        [[...after.lostCalls].sort(), after.lostFrames],
        [["s1.a", "s1.b"], ["s1.f"]],
        "when it has run out",
      );
      checkEqual((await ledger.due([], 1)).lostCalls.length, 1, "limited");
    },
  },
  {
    name: "what is held by an owner nobody knows is lost",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([
        { kind: "call-insert", call: buildCall("s1", "a", { status: "executing", owner: "nobody" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "f", { status: "stepping", owner: "nobody" }) },
      ]);
      const due = await ledger.due([], 10);
      checkEqual([due.lostCalls, due.lostFrames], [["s1.a"], ["s1.f"]], "lost");
    },
  },
  {
    name: "what is due goes on behind the last of each list that was full",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const numbers = ["1", "2", "3"];
      const expiresAt = clock.now();
      await writer.commit([
        ...numbers.flatMap((id) => [
          readyCall(`c${id}`, id === "2" ? "shop" : "bank"),
          readyFrame(`f${id}`, id === "2" ? "shop" : "bank"),
          heldCall(`h${id}`, id === "1" ? "a" : "b"),
          ...buildQuestion("s1", `q${id}`, { confirmation: { expiresAt } }),
        ]),
        heldFrame("g1", "a"),
      ]);
      const hosted = [{ app: "bank" }, { app: "shop" }];
      const seen: Record<string, string[]> = {};
      let due = await ledger.due(hosted, 2);
      checkEqual(due.lostFrames, ["s1.g1"], "a list that is complete");
      for (let page = 1; ; page++) {
        const { expired, readyCalls, readyFrames, lostCalls, next } = due;
        for (const [list, ids] of Object.entries({ expired, readyCalls, readyFrames, lostCalls }))
          (seen[list] ??= []).push(...ids.map(nameIn));
        if (next === undefined) break;
        checkEqual(page < 3 && next.lostFrames === undefined, true, "pages");
        due = await ledger.due(hosted, 2, next);
        checkEqual(due.lostFrames, [], "a list that was complete");
      }
      const all = {
        expired: ["q1", "q2", "q3"],
        readyCalls: ["c1", "c2", "c3"],
        readyFrames: ["f1", "f2", "f3"],
        lostCalls: ["h1", "h2", "h3"],
      };
      checkEqual(seen, all, "all of them, once");
      const front = [Number.MIN_SAFE_INTEGER, ""] as const;
      const urgent = await ledger.due(hosted, 10, {
        expired: front,
        lostCalls: ["", 0, ""],
        lostFrames: ["", 0, ""],
      });
      checkEqual(
        [urgent.expired, urgent.lostCalls, urgent.lostFrames, urgent.readyCalls].map((ids) =>
          ids.map(nameIn),
        ),
        [all.expired, all.lostCalls, ["g1"], []],
        "from the front of some lists",
      );
    },
  },
];
