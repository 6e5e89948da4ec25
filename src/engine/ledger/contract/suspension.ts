import type { KeyValueStore } from "../key-value-store.ts";
import { resumeLedger, SUSPENSION, suspendLedger } from "../suspension.ts";
import { SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const LEASE_MS = 15_000;
const OWNER = { id: "o1", host: "alpha", pid: 17 } as const;
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
