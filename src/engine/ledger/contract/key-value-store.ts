import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const TOKEN = { kind: "token", id: "t1", value: { hash: "abc", scopes: ["read"] } } as const;

export const keyValueStoreCases: readonly LedgerCase[] = [
  {
    name: "what is kept is there for every handle, with a version that counts its changes",
    needs: "reopen",
    async run({ open, reopen }) {
      const ledger = await open();
      checkEqual(await ledger.items.put(TOKEN, 0), true, "kept");
      const other = await reopen();
      checkEqual(await other.items.get("token", "t1"), { ...TOKEN, version: 1 }, "as first kept");
      checkEqual(await other.items.put({ ...TOKEN, value: null }, 1), true, "changed");
      checkEqual(await ledger.items.get("token", "t1"), { ...TOKEN, value: null, version: 2 }, "as changed");
      checkEqual(await ledger.items.get("token", "t2"), undefined, "of another id");
      checkEqual(await ledger.items.get("login", "t1"), undefined, "of another kind");
    },
  },
  {
    name: "a change that read another version writes nothing",
    async run({ open }) {
      const ledger = await open();
      checkEqual(await ledger.items.put(TOKEN, 1), false, "changed before there was one");
      checkEqual(await ledger.items.put(TOKEN, 0), true, "kept");
      checkEqual(await ledger.items.put({ ...TOKEN, value: 2 }, 0), false, "kept again");
      checkEqual(await ledger.items.put({ ...TOKEN, value: 2 }, 2), false, "changed from a version to come");
      checkEqual(await ledger.items.get("token", "t1"), { ...TOKEN, version: 1 }, "left as it was");
    },
  },
  {
    name: "of many that discard one item, one is told that it did",
    needs: "reopen",
    async run({ open, reopen }) {
      const ledger = await open();
      await ledger.items.put(TOKEN, 0);
      const other = await reopen();
      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          (i % 2 === 0 ? ledger : other).items.remove({ ...TOKEN, version: 1 }),
        ),
      );
      checkEqual(taken.filter(Boolean).length, 1, "winners");
      checkEqual(await ledger.items.get("token", "t1"), undefined, "afterwards");
    },
  },
  {
    name: "what has expired is as if it were not there, by the ledger's clock",
    async run({ open, clock }) {
      const ledger = await open();
      const item = { ...TOKEN, expiresAt: clock.now() + 1_000 };
      await ledger.items.put(item, 0);
      checkEqual(await ledger.items.get("token", "t1"), { ...item, version: 1 }, "before");
      await clock.advance(1_000);
      checkEqual(await ledger.items.get("token", "t1"), undefined, "at its time");
      checkEqual((await ledger.items.list("token")).items, [], "in the list");
      checkEqual(await ledger.items.remove({ ...TOKEN, version: 1 }), false, "discarded");
      checkEqual(await ledger.items.put(TOKEN, 1), false, "changed");
      checkEqual(await ledger.items.put(TOKEN, 0), true, "kept anew");
      await ledger.tidy();
      checkEqual(await ledger.items.get("token", "t1"), { ...TOKEN, version: 1 }, "after tidying");
    },
  },
  {
    name: "a list holds one kind, by id, in pages",
    async run({ open }) {
      const ledger = await open();
      for (const id of ["c", "a", "b"]) await ledger.items.put({ ...TOKEN, id }, 0);
      await ledger.items.put({ ...TOKEN, kind: "login", id: "z" }, 0);
      const first = await ledger.items.list("token", { limit: 2 });
      checkEqual(
        first.items.map(({ id }) => id),
        ["a", "b"],
        "first page",
      );
      const rest = await ledger.items.list("token", { limit: 2, cursor: first.next ?? "" });
      checkEqual(
        rest.items.map(({ id }) => id),
        ["c"],
        "second page",
      );
      checkEqual(rest.next, undefined, "after the last page");
    },
  },
];
