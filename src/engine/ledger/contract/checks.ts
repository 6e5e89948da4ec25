import type { CommitOutcome } from "../commit.ts";
import type { Ledger } from "../ledger.ts";
import { SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const OK = { ok: true } as const;
const ROW = { ok: false, conflict: "row" } as const;
const GUARD = { kind: "guard", id: "all" } as const;
const MANY = 50;

const check = (version: number) => ({ kind: "check", item: { ...GUARD, version } }) as const;

async function versionOf({ items }: Ledger): Promise<number | undefined> {
  return (await items.get(GUARD.kind, GUARD.id))?.version;
}

async function untilRefused(writer: SessionWriter): Promise<CommitOutcome> {
  for (;;) {
    const outcome = await writer.commit([check(1)]);
    if (!outcome.ok) return outcome;
  }
}

export const checkCases: readonly LedgerCase[] = [
  {
    name: "a check refuses the commit unless the item is there in that version, and leaves the item as it is",
    async run({ open, clock }) {
      const ledger = await open();
      const { items } = ledger;
      const writer = new SessionWriter(ledger, "s1");
      checkEqual(await writer.commit([check(1)]), ROW, "without the item");
      await items.put({ ...GUARD, value: {} }, 0);
      checkEqual(await writer.commit([check(1)]), OK, "in that version");
      checkEqual(await writer.commit([check(1)]), OK, "a second time");
      checkEqual(await versionOf(ledger), 1, "the item's version");
      await items.put({ ...GUARD, value: {} }, 1);
      checkEqual(await writer.commit([check(1)]), ROW, "in a later version");
      checkEqual(await writer.commit([check(3)]), ROW, "in an earlier version");
      checkEqual(writer.version, (await ledger.load({ sessionKey: "s1" }))?.session.version, "the session");
      await items.put({ ...GUARD, value: {}, expiresAt: clock.now() + 1 }, 2);
      checkEqual(await writer.commit([check(3)]), OK, "before it expires");
      await clock.advance(1);
      checkEqual(await writer.commit([check(3)]), ROW, "when it has expired");
    },
  },
  {
    name: "a refused check undoes all of its commit",
    async run({ open }) {
      const ledger = await open();
      await ledger.items.put({ ...GUARD, value: {} }, 0);
      const writer = new SessionWriter(ledger, "s1");
      const item = { kind: "item", item: { kind: "k", id: "i", value: 1 }, read: 0 } as const;
      checkEqual(await writer.commit([item, check(2)]), ROW, "the commit");
      checkEqual(await ledger.items.get("k", "i"), undefined, "the item");
      checkEqual(await ledger.load({ sessionKey: "s1" }), undefined, "the session");
    },
  },
  {
    name: "a commit may write an item that it checks, and write it twice, as long as all name one version",
    async run({ open }) {
      const ledger = await open();
      await ledger.items.put({ ...GUARD, value: {} }, 0);
      const writer = new SessionWriter(ledger, "s1");
      const write = (value: number, read = 1) => ({ kind: "item", item: { ...GUARD, value }, read }) as const;
      checkEqual(await writer.commit([check(1), write(7, 2)]), ROW, "another version written");
      checkEqual(await writer.commit([write(7), check(2)]), ROW, "another version checked");
      checkEqual(await writer.commit([write(7), write(8, 2)]), ROW, "two versions written");
      checkEqual(await writer.commit([check(1), write(7), check(1), write(8)]), OK, "the commit");
      const { value, version } = (await ledger.items.get(GUARD.kind, GUARD.id)) ?? {};
      checkEqual({ value, version }, { value: 8, version: 2 }, "the item");
    },
  },
  {
    name: "any number of commits that check an item at once are done at the first try, those that erase too",
    async run({ open }) {
      const ledger = await open();
      await ledger.items.put({ ...GUARD, value: {} }, 0);
      const writers = Array.from({ length: MANY }, (_, i) => new SessionWriter(ledger, `s${i}`));
      const commits = () =>
        Promise.all(
          writers.map((writer) =>
            writer.version === 0
              ? writer.commit([check(1)])
              : writer.commit([check(1), { kind: "erase" }], { deletedAt: 5 }),
          ),
        );
      const allOk = writers.map(() => OK);
      checkEqual(await commits(), allOk, "the commits");
      checkEqual(await commits(), allOk, "those that erase");
      checkEqual(await versionOf(ledger), 1, "the item's version");
    },
  },
  {
    name: "of a change and commits that check, at once, those that are not refused come before it in the log",
    async run({ open }) {
      const ledger = await open();
      await ledger.items.put({ ...GUARD, value: {} }, 0);
      const diary = new SessionWriter(ledger, "diary");
      const changing = async () => {
        await diary.commit();
        await diary.commit();
        return diary.commit([{ kind: "item", item: { ...GUARD, value: {} }, read: 1 }]);
      };
      const writers = Array.from({ length: 8 }, (_, i) => new SessionWriter(ledger, `s${i}`));
      const [changed, ...refused] = await Promise.all([changing(), ...writers.map(untilRefused)]);
      checkEqual(changed, OK, "the change");
      checkEqual(
        refused,
        writers.map(() => ROW),
        "the commits that came after it",
      );
      const rows = await ledger.journal.rows({ after: 0, limit: 10_000 });
      checkEqual(rows.at(-1)?.session, "diary", "the last row of the log");
    },
  },
];
