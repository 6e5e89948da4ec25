import type { FrameRecord } from "../records/frame-record.ts";
import { buildCall, buildFrame, buildQuestion, questionId, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const OK = { ok: true } as const;
const ROW = { ok: false, conflict: "row" } as const;
const BUSY = { ok: false, conflict: "busy" } as const;
const DEADLINE = { ok: false, conflict: "deadline" } as const;

export const guardCases: readonly LedgerCase[] = [
  {
    name: "a call moves only from the status and the attempt that the update names",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([{ kind: "call-insert", call: buildCall("s1", "c", { status: "ready" }) }]);
      const claim = { kind: "call-update", id: "s1.c", set: { status: "executing", attempt: 1 } } as const;
      checkEqual(await writer.commit([{ ...claim, from: "waiting", attempt: 0 }]), ROW, "a wrong status");
      checkEqual(await writer.commit([{ ...claim, from: "ready", attempt: 1 }]), ROW, "a wrong attempt");
      checkEqual(await writer.commit([{ ...claim, from: "ready", attempt: 0 }]), OK, "the right ones");
      checkEqual(await writer.commit([{ ...claim, from: "ready", attempt: 0 }]), ROW, "a second time");
    },
  },
  {
    name: "an update changes the members it names, clears an owner with null, and leaves the rest",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const call = buildCall("s1", "c", { status: "executing", attempt: 1, owner: "o", startedAt: 3 });
      const frame = buildFrame("s1", "f", { status: "stepping", owner: "o", branch: "b", output: 1 });
      await writer.commit([
        { kind: "call-insert", call },
        { kind: "frame-insert", frame },
      ]);
      const result = { status: "succeeded", owner: null, endedAt: 4, result: null } as const;
      await writer.commit([
        { kind: "call-update", id: "s1.c", from: "executing", attempt: 1, set: result },
        { kind: "frame-update", id: "s1.f", from: "stepping", set: { status: "done", turn: 2, owner: null } },
      ]);
      const { owner: _caller, ...callWithout } = call;
      const ended = { ...callWithout, status: "succeeded", endedAt: 4, result: null };
      checkEqual(await ledger.calls(["s1.c"]), [ended], "the call");
      const { owner: _stepper, ...frameWithout } = frame;
      const found = (await ledger.load({ frame: "s1.f" }))?.frame;
      checkEqual(found, { ...frameWithout, status: "done", turn: 2 }, "the frame");
    },
  },
  {
    name: "a frame moves only from the status that the update names",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([{ kind: "frame-insert", frame: buildFrame("s1", "f", { status: "ready" }) }]);
      const step = { kind: "frame-update", id: "s1.f", set: { status: "stepping" } } as const;
      checkEqual(await writer.commit([{ ...step, from: "waiting" }]), ROW, "a wrong status");
      checkEqual(await writer.commit([{ ...step, from: "ready" }]), OK, "the right one");
      checkEqual(await writer.commit([{ ...step, from: "ready" }]), ROW, "a second time");
    },
  },
  {
    name: "an exclusive step is refused while another frame of the session steps in the same branch",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const other = new SessionWriter(ledger, "s2");
      await other.commit([{ kind: "frame-insert", frame: buildFrame("s2", "else", { status: "stepping" }) }]);
      await writer.commit([
        { kind: "frame-insert", frame: buildFrame("s1", "a", { status: "stepping" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "b", { status: "ready" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "x", { status: "ready", branch: "one" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "y", { status: "ready", branch: "two" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "z", { status: "ready", branch: "one" }) },
      ]);
      const step = (name: string, exclusive = true) =>
        writer.commit([
          { kind: "frame-update", id: `s1.${name}`, from: "ready", exclusive, set: { status: "stepping" } },
        ]);
      checkEqual(await step("b"), BUSY, "the same branch, the main one");
      checkEqual(await step("x"), OK, "a branch of its own");
      checkEqual(await step("y"), OK, "another branch");
      checkEqual(await step("z"), BUSY, "the same named branch");
      checkEqual(await step("z", false), OK, "without asking to be alone");
      await writer.commit([{ kind: "frame-update", id: "s1.a", from: "stepping", set: { status: "done" } }]);
      checkEqual(await step("b"), OK, "once the other is done");
    },
  },
  {
    name: "a frame that is inserted as exclusive is refused in a branch where another one steps",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const insert = (id: string, over: Partial<FrameRecord>, exclusive: boolean) =>
        writer.commit([
          { kind: "frame-insert", frame: buildFrame("s1", id, { status: "stepping", ...over }), exclusive },
        ]);
      checkEqual(await insert("a", {}, true), OK, "the first");
      checkEqual(await insert("b", {}, true), BUSY, "the second in the main branch");
      checkEqual(await insert("b", { branch: "one" }, true), OK, "in a branch of its own");
      checkEqual(await insert("c", { branch: "one" }, true), BUSY, "the second in that branch");
      checkEqual(await insert("c", {}, false), OK, "without asking to be alone");
      checkEqual(await ledger.load({ frame: "s1.d" }), undefined, "a frame nobody inserted");
    },
  },
  {
    name: "a session that has moved on is told before a busy branch is",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([{ kind: "frame-insert", frame: buildFrame("s1", "a", { status: "stepping" }) }]);
      await writer.commit([{ kind: "frame-insert", frame: buildFrame("s1", "b", { status: "ready" }) }]);
      const step = { kind: "frame-update", id: "s1.b", from: "ready", exclusive: true } as const;
      const outcome = await writer.commit([{ ...step, set: { status: "stepping" } }], { version: 1 });
      checkEqual(outcome, { ok: false, conflict: "version" }, "the outcome");
    },
  },
  {
    name: "an exclusive step that is itself in the wrong status is refused as a row, not as busy",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([{ kind: "frame-insert", frame: buildFrame("s1", "a", { status: "stepping" }) }]);
      const set = { status: "stepping" } as const;
      const outcome = await writer.commit([
        { kind: "frame-update", id: "s1.a", from: "ready", exclusive: true, set },
      ]);
      checkEqual(outcome, ROW, "the outcome");
    },
  },
  {
    name: "a confirmation moves only from the status that the update names",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit(buildQuestion("s1", "c"));
      const approve = {
        kind: "confirmation-update",
        id: questionId("s1", "c"),
        set: { status: "approved" },
      } as const;
      checkEqual(await writer.commit([{ ...approve, from: "denied" }]), ROW, "a wrong status");
      checkEqual(await writer.commit([{ ...approve, from: "requested" }]), OK, "the right one");
      checkEqual(await writer.commit([{ ...approve, from: "requested" }]), ROW, "a second time");
      checkEqual(
        await writer.commit([{ ...approve, id: questionId("s1", "d"), from: "requested" }]),
        ROW,
        "an unknown one",
      );
    },
  },
  {
    name: "a deadline is ahead until the instant it names, and passed from then on",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const expiresAt = clock.now() + 100;
      await writer.commit([
        ...buildQuestion("s1", "early", { confirmation: { expiresAt } }),
        ...buildQuestion("s1", "late", { confirmation: { expiresAt } }),
      ]);
      const approve = (name: string) =>
        writer.commit([
          {
            kind: "confirmation-update",
            id: questionId("s1", name),
            from: "requested",
            deadline: "ahead",
            set: { status: "approved" },
          },
        ]);
      const expire = (name: string) =>
        writer.commit([
          {
            kind: "confirmation-update",
            id: questionId("s1", name),
            from: "requested",
            deadline: "passed",
            set: { status: "expired" },
          },
        ]);
      await clock.advance(99);
      checkEqual(await expire("late"), DEADLINE, "expiry a millisecond early");
      checkEqual(await approve("early"), OK, "approval a millisecond early");
      await clock.advance(1);
      checkEqual(await approve("late"), DEADLINE, "approval at the deadline");
      checkEqual(await expire("late"), OK, "expiry at the deadline");
      checkEqual(await approve("late"), ROW, "approval of what has expired");
    },
  },
  {
    name: "a confirmation without a deadline is always ahead of it",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit(buildQuestion("s1", "c"));
      await clock.advance(1e12);
      const update = { kind: "confirmation-update", id: questionId("s1", "c"), from: "requested" } as const;
      const expire = { ...update, deadline: "passed", set: { status: "expired" } } as const;
      checkEqual(await writer.commit([expire]), DEADLINE, "expiry");
      const approve = { ...update, deadline: "ahead", set: { status: "approved" } } as const;
      checkEqual(await writer.commit([approve]), OK, "approval");
    },
  },
];
