import { buildCall, buildFrame, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const LEASE_MS = 15_000;
const DAYS_MS = 3 * 24 * 60 * 60 * 1_000;
const OWNER = { id: "o1", host: "alpha", pid: 17 } as const;
const REFUSED = { ok: false, conflict: "owner" } as const;

export const ownerCases: readonly LedgerCase[] = [
  {
    name: "a commit under an owner is refused unless its lease is running at that moment",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      checkEqual(await writer.commit([], { owner: "o1" }), REFUSED, "before the first beat");
      checkEqual(await ledger.owners.beat(OWNER, LEASE_MS), true, "the first beat");
      await clock.advance(LEASE_MS - 1);
      checkEqual(await writer.commit([], { owner: "o1" }), { ok: true }, "a millisecond before the end");
      await clock.advance(1);
      checkEqual(await writer.commit([], { owner: "o1" }), REFUSED, "at the end");
      checkEqual(await writer.commit(), { ok: true }, "without naming an owner");
    },
  },
  {
    name: "a lease that ran out unnoticed can be renewed; once its work was given away it cannot",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await ledger.owners.beat(OWNER, LEASE_MS);
      await clock.advance(LEASE_MS + 1);
      checkEqual(await ledger.owners.beat(OWNER, LEASE_MS), true, "renewed before anyone looked");
      checkEqual(await writer.commit([], { owner: "o1" }), { ok: true }, "a commit after that");
      await clock.advance(LEASE_MS);
      await ledger.due([], 10);
      checkEqual(await ledger.owners.beat(OWNER, LEASE_MS), false, "renewed after somebody looked");
      checkEqual(await writer.commit([], { owner: "o1" }), REFUSED, "a commit after that");
    },
  },
  {
    name: "a fenced owner stays refused, also when the clock is set back",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await ledger.owners.beat(OWNER, LEASE_MS);
      await clock.advance(LEASE_MS);
      await ledger.due([], 10);
      await clock.advance(-LEASE_MS);
      checkEqual(await writer.commit([], { owner: "o1" }), REFUSED, "a commit");
      checkEqual(await ledger.owners.beat(OWNER, LEASE_MS), false, "a beat");
      checkEqual((await ledger.owners.get("o1"))?.alive, false, "is it alive");
    },
  },
  {
    name: "an owner whose last beat is in the future, because the clock was set back, is overdue a lease later",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await ledger.owners.beat({ ...OWNER, id: "dead" }, LEASE_MS);
      await ledger.owners.beat({ ...OWNER, id: "alive" }, LEASE_MS);
      await writer.commit([
        { kind: "call-insert", call: buildCall("s1", "a", { status: "executing", owner: "dead" }) },
        { kind: "call-insert", call: buildCall("s1", "b", { status: "executing", owner: "alive" }) },
      ]);
      await clock.advance(-2 * 60 * 60 * 1_000);
      checkEqual((await ledger.due([], 10)).lostCalls, [], "lost calls, right after");
      await clock.advance(LEASE_MS - 1);
      checkEqual(
        await ledger.owners.beat({ ...OWNER, id: "alive" }, LEASE_MS),
        true,
        "a beat of the living one",
      );
      checkEqual((await ledger.due([], 10)).lostCalls, [], "lost calls, before the lease is over");
      await clock.advance(1);
      checkEqual((await ledger.due([], 10)).lostCalls, ["s1.a"], "lost calls, a lease later");
      checkEqual(
        await ledger.owners.beat({ ...OWNER, id: "dead" }, LEASE_MS),
        false,
        "a beat of the dead one",
      );
    },
  },
  {
    name: "looking for due work fences no owner whose lease is running",
    async run({ open, clock }) {
      const ledger = await open();
      await ledger.owners.beat(OWNER, LEASE_MS);
      await clock.advance(LEASE_MS - 1);
      await ledger.due([{ app: "bank" }], 10);
      checkEqual(await ledger.owners.beat(OWNER, LEASE_MS), true, "the next beat");
    },
  },
  {
    name: "a retired owner is refused at once, and what it held is due",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await ledger.owners.beat(OWNER, LEASE_MS);
      const call = buildCall("s1", "c", { status: "executing", attempt: 1, owner: "o1" });
      await writer.commit([{ kind: "call-insert", call }], { owner: "o1" });
      await ledger.owners.retire("o1");
      checkEqual(await writer.commit([], { owner: "o1" }), REFUSED, "a commit");
      checkEqual(await ledger.owners.beat(OWNER, LEASE_MS), false, "a beat");
      checkEqual((await ledger.due([], 10)).lostCalls, ["s1.c"], "lost calls");
      await ledger.owners.retire("never-seen");
    },
  },
  {
    name: "an owner's state tells where it ran, when it last gave a sign and whether it lives",
    async run({ open, clock }) {
      const ledger = await open();
      await ledger.owners.beat(OWNER, LEASE_MS);
      await clock.advance(5_000);
      await ledger.owners.beat(OWNER, LEASE_MS);
      const lastBeatAt = clock.now();
      const state = { ...OWNER, lastBeatAt, leaseUntil: lastBeatAt + LEASE_MS };
      checkEqual(await ledger.owners.get("o1"), { ...state, alive: true, fenced: false }, "while it lives");
      await clock.advance(LEASE_MS);
      checkEqual(await ledger.owners.get("o1"), { ...state, alive: false, fenced: false }, "lease run out");
      await ledger.due([], 1);
      checkEqual(
        await ledger.owners.get("o1"),
        { ...state, alive: false, fenced: true },
        "when it is fenced",
      );
      checkEqual(await ledger.owners.get("o2"), undefined, "an owner nobody knows");
    },
  },
  {
    name: "tells what an owner holds: calls that execute and frames that step under it, and nothing else",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      for (const id of ["o1", "o2"]) await ledger.owners.beat({ ...OWNER, id }, LEASE_MS);
      await writer.commit([
        { kind: "call-insert", call: buildCall("s1", "a", { status: "executing", attempt: 2, owner: "o1" }) },
        { kind: "call-insert", call: buildCall("s1", "b", { status: "unknown", attempt: 1, owner: "o1" }) },
        { kind: "call-insert", call: buildCall("s1", "c", { status: "executing", attempt: 1, owner: "o2" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "f", { status: "stepping", turn: 3, owner: "o1" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "g", { status: "stepping", owner: "o2" }) },
      ]);
      const both = { calls: [{ id: "s1.a", attempt: 2 }], frames: [{ id: "s1.f", turn: 3 }] };
      checkEqual(await ledger.owners.held("o1"), both, "what it holds");
      const from = { kind: "frame-update", id: "s1.f", from: "stepping" } as const;
      await writer.commit([{ ...from, set: { status: "waiting", owner: null } }]);
      checkEqual(await ledger.owners.held("o1"), { ...both, frames: [] }, "after its step");
      await ledger.owners.retire("o1");
      checkEqual(await ledger.owners.held("o1"), { ...both, frames: [] }, "when it is retired");
      checkEqual(await ledger.owners.held("o3"), { calls: [], frames: [] }, "an owner nobody knows");
    },
  },
  {
    name: "tidying drops owners long gone that hold nothing, and keeps every other",
    async run({ open, clock }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      for (const id of ["idle", "runs", "steps", "lost"])
        await ledger.owners.beat({ ...OWNER, id }, LEASE_MS);
      await writer.commit([
        { kind: "call-insert", call: buildCall("s1", "a", { status: "executing", owner: "runs" }) },
        { kind: "call-insert", call: buildCall("s1", "b", { status: "unknown", owner: "lost" }) },
        { kind: "frame-insert", frame: buildFrame("s1", "f", { status: "stepping", owner: "steps" }) },
      ]);
      await ledger.tidy();
      const kept = async () => {
        const states = await Promise.all(
          ["idle", "runs", "steps", "lost", "new"].map((id) => ledger.owners.get(id)),
        );
        return states.flatMap((state) => (state === undefined ? [] : [state.id]));
      };
      checkEqual(await kept(), ["idle", "runs", "steps", "lost"], "while the leases run");
      await clock.advance(DAYS_MS);
      await ledger.owners.beat({ ...OWNER, id: "new" }, LEASE_MS);
      await ledger.due([], 1);
      await ledger.tidy();
      checkEqual(await kept(), ["runs", "steps", "lost", "new"], "days later");
    },
  },
];
