import { buildCall, buildEvent, buildFrame, buildQuestion, questionId, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const REFUSED_VERSION = { ok: false, conflict: "version" } as const;
const REFUSED_ROW = { ok: false, conflict: "row" } as const;

export const commitCases: readonly LedgerCase[] = [
  {
    name: "the first commit creates the session at version 1, and every commit moves it by one",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      checkEqual(
        await writer.commit([writer.event("hi")], { updatedAt: 5 }),
        { ok: true },
        "the first commit",
      );
      const first = await ledger.load({ sessionKey: "s1" });
      checkEqual(
        first?.session,
        {
          key: "s1",
          app: "bank",
          user: "ana",
          id: "s1",
          version: 1,
          nextSeq: 2,
          open: 0,
          ready: 0,
          bytes: 0,
          chain: { n: 1, hash: "hash-1" },
          createdAt: 5,
          updatedAt: 5,
        },
        "the session",
      );
      await writer.commit([writer.journal("noted")], {
        updatedAt: 9,
        open: 3,
        ready: 2,
        bytes: 5_000_000_000,
      });
      const second = (await ledger.load({ session: writer.name }))?.session;
      const { version, open: asked, ready, bytes, chain } = second ?? {};
      checkEqual([version, asked, ready, chain?.n], [2, 3, 2, 2], "version, open, ready, chain");
      checkEqual(bytes, 5_000_000_000, "bytes");
      checkEqual([second?.createdAt, second?.updatedAt], [5, 9], "times");
    },
  },
  {
    name: "a session that exists under its key is not created again",
    async run({ open }) {
      const ledger = await open();
      await new SessionWriter(ledger, "s1").commit();
      const second = new SessionWriter(ledger, "s1", { id: "another" });
      checkEqual(await second.commit(), REFUSED_VERSION, "the second creation");
      checkEqual(await ledger.load({ session: second.name }), undefined, "the other name");
    },
  },
  {
    name: "a session that exists under its name is not created again, deleted or not",
    async run({ open }) {
      const ledger = await open();
      const first = new SessionWriter(ledger, "s1");
      await first.commit();
      const second = new SessionWriter(ledger, "s2", first.name);
      checkEqual(await second.commit(), REFUSED_VERSION, "while it lives");
      await first.commit([{ kind: "erase" }], { deletedAt: 7 });
      checkEqual(await second.commit(), REFUSED_VERSION, "once it is deleted");
      checkEqual((await ledger.load({ session: first.name }))?.session.deletedAt, 7, "deletedAt");
      await first.commit([first.journal("late-result")]);
      checkEqual((await ledger.load({ session: first.name }))?.session.deletedAt, 7, "deletedAt, later");
    },
  },
  {
    name: "equal ids of different users or apps are different sessions",
    async run({ open }) {
      const ledger = await open();
      for (const [key, name] of [
        ["s1", { user: "ana", id: "x" }],
        ["s2", { user: "bob", id: "x" }],
        ["s3", { user: "ana", id: "x", app: "shop" }],
      ] as const) {
        checkEqual(await new SessionWriter(ledger, key, name).commit(), { ok: true }, key);
      }
      const found = await ledger.load({ session: { app: "bank", user: "bob", id: "x" } });
      checkEqual(found?.session.key, "s2", "key");
    },
  },
  {
    name: "a commit on a version that is past or ahead is refused",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit();
      await writer.commit();
      checkEqual(await writer.commit([], { version: 1 }), REFUSED_VERSION, "a past version");
      checkEqual(await writer.commit([], { version: 3 }), REFUSED_VERSION, "a version ahead");
      const nobody = new SessionWriter(ledger, "nobody");
      checkEqual(await nobody.commit([], { version: 1 }), REFUSED_VERSION, "a session that is not there");
    },
  },
  {
    name: "a commit whose last write is refused leaves nothing behind",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit();
      const before = await ledger.load({ sessionKey: "s1" });
      const outcome = await writer.commit([
        { kind: "event", event: buildEvent("e1", "never") },
        ...buildQuestion("s1", "c1"),
        { kind: "frame-insert", frame: buildFrame("s1", "f1", { status: "ready" }) },
        { kind: "state", scope: "app", delta: { "app:x": 1 } },
        writer.journal("never"),
        { kind: "call-update", id: "s1.missing", from: "waiting", attempt: 0, set: { status: "ready" } },
      ]);
      checkEqual(outcome, REFUSED_ROW, "the outcome");
      checkEqual(await ledger.load({ sessionKey: "s1" }), before, "the session");
      checkEqual(await ledger.events("s1"), [], "events");
      checkEqual(await ledger.calls(["s1.call-c1"]), [], "calls");
      checkEqual(await ledger.load({ confirmation: questionId("s1", "c1") }), undefined, "the confirmation");
      checkEqual((await ledger.confirmations({ state: "open" })).items, [], "open confirmations");
      checkEqual(await ledger.liveFrames("s1"), [], "frames");
      checkEqual(await ledger.state("s1"), {}, "state");
      checkEqual(await ledger.journal.records({ after: 0, limit: 9 }), [], "the journal");
    },
  },
  {
    name: "a commit that throws leaves nothing behind, and the next one succeeds",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const call = buildCall("s1", "c");
      await writer.commit([{ kind: "call-insert", call }]);
      const twice = writer.commit([writer.event("never"), { kind: "call-insert", call }]);
      checkEqual(await twice.catch(() => "thrown"), "thrown", "the same call inserted twice");
      checkEqual(await ledger.events("s1"), [], "events");
      checkEqual(await writer.commit(), { ok: true }, "the next commit");
    },
  },
  {
    name: "a synced commit is like any other",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      checkEqual(await writer.commit([writer.event("a")], { sync: true }), { ok: true }, "synced");
      checkEqual(await writer.commit([writer.event("b")], { sync: false }), { ok: true }, "not synced");
      checkEqual(await writer.commit([writer.event("c")], { sync: true }), { ok: true }, "synced again");
      checkEqual((await ledger.events("s1")).length, 3, "events");
    },
  },
  {
    name: "of many commits on one version exactly one succeeds",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit();
      const commit = writer.toCommit([], {});
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => ledger.commit(commit)));
      checkEqual(outcomes.filter(({ ok }) => ok).length, 1, "how many succeeded");
    },
  },
  {
    name: "of commits on one version through two handles exactly one succeeds",
    needs: "reopen",
    async run({ open, reopen }) {
      const one = await open();
      const other = await reopen();
      const writer = new SessionWriter(one, "s1");
      await writer.commit();
      for (let round = 0; round < 20; round++) {
        const commit = writer.toCommit([], {});
        const outcomes = await Promise.all([one.commit(commit), other.commit(commit)]);
        checkEqual(outcomes.filter(({ ok }) => ok).length, 1, "how many succeeded");
        writer.version += 1;
      }
    },
  },
];
