import type { KeyValueStore } from "../key-value-store.ts";
import { resumeLedger, SUSPENSION, suspendLedger } from "../suspension.ts";
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

const SUSPENDED = { ok: false, conflict: "suspended" } as const;

export const suspensionCases: readonly LedgerCase[] = [
  {
    name: "while a ledger is suspended, a commit under an owner is refused, and any other is done",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await ledger.owners.beat(OWNER, LEASE_MS);
      await suspendLedger(ledger.items, { why: "unpaid" });
      checkEqual(await writer.commit([], { owner: "o1" }), SUSPENDED, "a commit under an owner");
      checkEqual(await ledger.owners.beat(OWNER, LEASE_MS), true, "a beat");
      checkEqual(await writer.commit(), { ok: true }, "a commit without one");
      await suspendLedger(ledger.items, { why: "again" });
      await resumeLedger(ledger.items);
      checkEqual(await writer.commit([], { owner: "o1" }), { ok: true }, "when it was resumed");
    },
  },
  {
    name: "a resumption that stalls while the ledger is resumed and suspended anew does not undo that",
    async run({ open }) {
      const ledger = await open();
      const { items } = ledger;
      const writer = new SessionWriter(ledger, "s1");
      await ledger.owners.beat(OWNER, LEASE_MS);
      await suspendLedger(items, {}, 3);
      const stalled = afterReading(items, async () => {
        await resumeLedger(items, 4);
        await suspendLedger(items, {}, 5);
      });
      checkEqual(await resumeLedger(stalled, 4), false, "the resumption that stalled");
      checkEqual(await writer.commit([], { owner: "o1" }), SUSPENDED, "a commit under an owner");
      checkEqual(await suspendLedger(items, {}, 4), false, "an order that is older");
      checkEqual(await resumeLedger(items, 6), true, "one that is newer");
      checkEqual(await writer.commit([], { owner: "o1" }), { ok: true }, "a commit after that");
      checkEqual(await suspendLedger(items, {}, 5), false, "a suspension that was overtaken");
      checkEqual(await writer.commit([], { owner: "o1" }), { ok: true }, "a commit after that one");
    },
  },
  {
    name: "a ledger whose mark cannot be read is suspended",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await ledger.owners.beat(OWNER, LEASE_MS);
      let version = 0;
      for (const value of [{}, null, "resumed", { change: 1 }, { suspended: "false" }, { suspended: 0 }]) {
        await ledger.items.put({ ...SUSPENSION, value }, version);
        version += 1;
        checkEqual(await writer.commit([], { owner: "o1" }), SUSPENDED, JSON.stringify(value));
      }
    },
  },
];

/** Does this once, between the first look at an item and what follows from it. */
function afterReading(items: KeyValueStore, act: () => Promise<void>): KeyValueStore {
  let isFirst = true;
  return {
    async get(kind, id) {
      const found = await items.get(kind, id);
      if (isFirst) {
        isFirst = false;
        await act();
      }
      return found;
    },
    list: (kind, page) => items.list(kind, page),
    put: (item, read) => items.put(item, read),
    remove: (item) => items.remove(item),
    pin: (name, value) => items.pin(name, value),
  };
}
