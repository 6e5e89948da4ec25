import type { Snapshot } from "../commit.ts";
import { buildCall, buildConfirmation, buildFrame, questionId, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const FAR_MS = 1_000_000;

function withoutTime(all: readonly (Snapshot | undefined)[]): readonly unknown[] {
  return all.map((one) => one && { ...one, now: 0 });
}

export const loadCases: readonly LedgerCase[] = [
  {
    name: "what time it is by the ledger's clock is known after a look, also where nothing was found",
    async run({ open, clock }) {
      const ledger = await open();
      await clock.advance(FAR_MS);
      checkEqual(await ledger.load({ sessionKey: "nobody" }), undefined, "what was found");
      // A clock that is not this process's is carried forward by how much time has passed here.
      const off = Math.abs(ledger.now - clock.now());
      checkEqual(off < FAR_MS / 2, true, `is it right (off by ${off} ms)`);
    },
  },
  {
    name: "what has a NUL in its name is nothing that there is",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([{ kind: "call-insert", call: buildCall("s1", "w") }]);
      const name = { ...writer.name, user: "a\0" };
      for (const target of [{ session: name }, { sessionKey: "s1\0" }, { call: "s1.w\0" }])
        checkEqual(await ledger.load(target), undefined, Object.keys(target).join());
      for (const target of [
        { confirmation: questionId("s1", "\0") },
        { frame: "s1.\0" },
        { confirmation: "\0" },
        { frame: "\0" },
      ])
        checkEqual(await ledger.load(target), undefined, Object.keys(target).join());
      const ids = (await ledger.calls(["s1.w\0", "s1.w"])).map(({ id }) => id);
      checkEqual(ids, ["s1.w"], "the calls that there are");
    },
  },
  {
    name: "whatever is asked for comes with its session, its call, that call's question and frame",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const frame = buildFrame("s1", "f", { calls: ["s1.w"], open: 1 });
      const call = buildCall("s1", "w", {
        frame: "s1.f",
        confirmation: questionId("s1", "second"),
        rounds: 2,
      });
      const first = buildConfirmation(call, "first", { status: "approved" });
      const second = buildConfirmation(call, "second", { round: 1 });
      await writer.commit([
        { kind: "frame-insert", frame },
        { kind: "call-insert", call },
        { kind: "confirmation-insert", confirmation: first },
        { kind: "confirmation-insert", confirmation: second },
      ]);
      const now = clock.now();
      const session = (await ledger.load({ sessionKey: "s1" }))?.session;
      const whole = { now, session, call, frame };
      checkEqual(await ledger.load({ session: writer.name }), { now, session }, "by name");
      checkEqual(await ledger.load({ sessionKey: "s1" }), { now, session }, "by key");
      checkEqual(await ledger.load({ frame: "s1.f" }), { now, session, frame }, "by frame");
      checkEqual(await ledger.load({ call: "s1.w" }), { ...whole, confirmation: second }, "by call");
      checkEqual(
        await ledger.load({ confirmation: second.id }),
        { ...whole, confirmation: second },
        "the last",
      );
      checkEqual(
        await ledger.load({ confirmation: first.id }),
        { ...whole, confirmation: first },
        "the first",
      );
    },
  },
  {
    name: "a call without frame or question comes without them",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const call = buildCall("s1", "w");
      await writer.commit([{ kind: "call-insert", call }]);
      const session = (await ledger.load({ sessionKey: "s1" }))?.session;
      checkEqual(await ledger.load({ call: "s1.w" }), { now: clock.now(), session, call }, "the snapshot");
    },
  },
  {
    name: "a session by its name comes with the call that is asked for, wherever that is, or without it",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const { name: session } = writer;
      checkEqual(await ledger.load({ session, key: "c0" }), undefined, "before there is a session");
      // More than stay in the document.
      const calls = Array.from({ length: 9 }, (_none, place) =>
        buildCall("s1", `c${place}`, { status: "succeeded", attempt: 1 }),
      );
      for (const call of calls) await writer.commit([{ kind: "call-insert", call }]);
      const whole = { now: clock.now(), session: (await ledger.load({ session }))?.session };
      for (const call of calls)
        checkEqual(await ledger.load({ session, key: call.wireId }), { ...whole, call }, call.wireId);
      for (const key of ["c9", "", "c0\0", "s1.c0"])
        checkEqual(await ledger.load({ session, key }), whole, `no call: ${JSON.stringify(key)}`);
    },
  },
  {
    name: "what is not there loads as undefined",
    async run({ open }) {
      const ledger = await open();
      await new SessionWriter(ledger, "s1").commit();
      checkEqual(await ledger.load({ session: { app: "bank", user: "bob", id: "s1" } }), undefined, "a name");
      checkEqual(await ledger.load({ sessionKey: "s2" }), undefined, "a key");
      checkEqual(await ledger.load({ confirmation: questionId("s1", "c") }), undefined, "a confirmation");
      checkEqual(await ledger.load({ call: "s1.c" }), undefined, "a call");
      checkEqual(await ledger.load({ frame: "s1.f" }), undefined, "a frame");
    },
  },
  {
    name: "calls come in the order asked, and missing ones are left out",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const calls = ["a", "b", "c"].map((id) => buildCall("s1", id));
      await writer.commit(calls.map((call) => ({ kind: "call-insert", call })));
      const [a, b, c] = calls;
      checkEqual(await ledger.calls(["s1.c", "s1.x", "s1.a", "s1.b"]), [c, a, b], "several");
      checkEqual(await ledger.calls(["s1.b"]), [b], "one");
      checkEqual(await ledger.calls(["s1.x"]), [], "none there");
      checkEqual(await ledger.calls([]), [], "none asked");
    },
  },
  {
    name: "calls and confirmations are loaded together as each by itself, in the order asked",
    async run({ open }) {
      const ledger = await open();
      for (const key of ["s1", "s2"]) {
        const writer = new SessionWriter(ledger, key);
        const [call, over] = [buildCall(key, "a"), buildCall(key, "b", { status: "succeeded", attempt: 1 })];
        await writer.commit([call, over].map((one) => ({ kind: "call-insert", call: one })));
      }
      const targets = ["s2.a", "s1.a", "s3.a", "s1.x", "s1.b", "s2.a"].map((call) => ({ call }));
      const each = await Promise.all(targets.map((target) => ledger.load(target)));
      checkEqual(withoutTime(await ledger.loadAll(targets)), withoutTime(each), "several");
      checkEqual(
        each.map((one) => one?.call?.id),
        ["s2.a", "s1.a", undefined, undefined, "s1.b", "s2.a"],
        "which",
      );
      checkEqual(await ledger.loadAll([]), [], "none");
    },
  },
  {
    name: "a session's live frames are those that are not over, and no other session's",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const statuses = ["ready", "stepping", "waiting", "done", "failed", "cancelled"] as const;
      const frames = statuses.map((status) => buildFrame("s1", status, { status, branch: status }));
      await writer.commit(frames.map((frame) => ({ kind: "frame-insert", frame })));
      await new SessionWriter(ledger, "s2").commit([{ kind: "frame-insert", frame: buildFrame("s2", "f") }]);
      const byId = async () => [...(await ledger.liveFrames("s1"))].sort((a, b) => (a.id < b.id ? -1 : 1));
      checkEqual(await byId(), frames.slice(0, 3), "live ones");
      await writer.commit([
        { kind: "frame-update", id: "s1.waiting", from: "waiting", set: { status: "done" } },
      ]);
      checkEqual(await byId(), frames.slice(0, 2), "after one has ended");
      checkEqual(await ledger.liveFrames("s3"), [], "of a session that is not there");
    },
  },
  {
    name: "a session's unanswered calls are those without a final status, and no other session's",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const open1 = ["waiting", "ready", "executing", "suspended", "unknown"] as const;
      const final = ["succeeded", "failed", "denied", "expired", "cancelled"] as const;
      const build = (status: (typeof open1)[number] | (typeof final)[number]) =>
        buildCall("s1", status, { status });
      await writer.commit(
        [...open1, ...final].map((status) => ({ kind: "call-insert", call: build(status) })),
      );
      for (const key of ["s", "s1-x", "s10"]) {
        await new SessionWriter(ledger, key).commit([{ kind: "call-insert", call: buildCall(key, "y") }]);
      }
      const found = (await ledger.unanswered("s1")).map(({ status }) => status).sort();
      checkEqual(found, [...open1].sort(), "statuses");
    },
  },
];
