import { positionOf } from "../../journal/index.ts";
import type { CheckpointRecord } from "../records/log-row.ts";
import { SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase } from "./subject.ts";

const seal = (k: number, root: string): CheckpointRecord => ({
  k,
  lastSeq: k,
  count: k,
  root,
  hash: `h${k}`,
  at: k,
});

export const historyCases: readonly LedgerCase[] = [
  {
    name: "events come in order, from after a position, limited, or the newest so many",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      const other = new SessionWriter(ledger, "s2");
      for (let i = 1; i <= 12; i++) await writer.commit([writer.event(`text ${i}`)]);
      await other.commit([other.event("elsewhere")]);
      const read = async (range?: Parameters<typeof ledger.events>[1]) =>
        (await ledger.events("s1", range)).map(({ id }) => Number(id.replace("s1-e", "")));
      checkEqual(await read(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], "all");
      checkEqual(await read({ after: 9 }), [10, 11, 12], "after");
      checkEqual(await read({ after: 2, limit: 3 }), [3, 4, 5], "after and limit");
      checkEqual(await read({ limit: 2 }), [1, 2], "limit");
      checkEqual(await read({ last: 3 }), [10, 11, 12], "last");
      checkEqual(await read({ last: 50 }), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], "more than there are");
      checkEqual(await read({ after: 10, last: 5 }), [11, 12], "last, but after");
      checkEqual(await read({ last: 0 }), [], "the last none");
      checkEqual(await ledger.events("nobody"), [], "of a session that is not there");
    },
  },
  {
    name: "the journal is one sequence in commit order; a chain is one session's part of it",
    async run({ open }) {
      const ledger = await open();
      const a = new SessionWriter(ledger, "a");
      const b = new SessionWriter(ledger, "b");
      await a.commit([a.journal("a1"), a.journal("a2")]);
      await b.commit([b.journal("b1")]);
      await a.commit([a.journal("a3")]);
      const all = await ledger.journal.records({ after: 0, limit: 10 });
      checkEqual(
        all.map(({ kind }) => kind),
        ["a1", "a2", "b1", "a3"],
        "kinds",
      );
      const seqs = all.map(({ seq }) => seq);
      checkEqual(
        seqs,
        [...new Set(seqs)].sort((x, y) => x - y),
        "positions that only grow",
      );
      const [first, second, third] = seqs;
      checkEqual((seqs[0] ?? 0) > 0, true, "a first position after 0");
      const after = await ledger.journal.records({ after: first ?? 0, limit: 2 });
      checkEqual(
        after.map(({ kind }) => kind),
        ["a2", "b1"],
        "after the first, two",
      );
      const at = await ledger.journal.recordsAt([third ?? 0, 1_000_000, first ?? 0, third ?? 0]);
      checkEqual(at, [all[0], all[2]], "at places");
      checkEqual(await ledger.journal.recordsAt([]), [], "at no place");
      const until = await ledger.journal.records({ after: first ?? 0, limit: 9, until: third ?? 0 });
      checkEqual(
        until.map(({ seq }) => seq),
        [second, third],
        "until the third",
      );
      const chain = await ledger.journal.sessionRecords("a", { after: 0, limit: 10 });
      checkEqual(
        chain.map(({ n, kind }) => [n, kind]),
        [
          [positionOf(1, 0), "a1"],
          [positionOf(1, 1), "a2"],
          [positionOf(2, 0), "a3"],
        ],
        "chain",
      );
      checkEqual(
        (await ledger.journal.sessionRecords("a", { after: positionOf(1, 0), limit: 1 })).map(({ n }) => n),
        [positionOf(1, 1)],
        "part of a chain",
      );
      const { seq: _seq, at: _at, ...record } = chain[0] ?? { seq: 0, at: 0 };
      const expected = { stream: "a", n: positionOf(1, 0), kind: "a1", hash: "hash-1", body: { kind: "a1" } };
      checkEqual(record, expected, "the record");
    },
  },
  {
    name: "the log has one line for each commit, and its bodies are kept letter by letter",
    async run({ open }) {
      const ledger = await open();
      const a = new SessionWriter(ledger, "a");
      const b = new SessionWriter(ledger, "b");
      await a.commit([a.journal("a1"), a.journal("a2")]);
      await b.commit([b.journal("b1")]);
      await a.commit([a.journal("a3")]);
      const log = await ledger.journal.rows({ after: 0, limit: 10 });
      checkEqual(
        log.map(({ session, n, kinds }) => [session, n, kinds]),
        [
          ["a", 1, ["a1", "a2"]],
          ["b", 1, ["b1"]],
          ["a", 2, ["a3"]],
        ],
        "the log",
      );
      const own = await ledger.journal.sessionRows("a", { after: 1, limit: 10 });
      checkEqual(own, log.slice(2), "one session's log");
      checkEqual(own[0]?.body, '{"records":[{"kind":"a3"}],"events":[]}', "the body, letter by letter");
    },
  },
  {
    name: "one place in a chain is taken once",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "a");
      await writer.commit();
      const record = writer.journal("noted");
      const commits = [writer.toCommit([record], {}), writer.toCommit([record], {})];
      const outcomes = await Promise.all(commits.map((commit) => ledger.commit(commit)));
      checkEqual(outcomes.filter(({ ok }) => ok).length, 1, "how many took it");
      checkEqual((await ledger.journal.sessionRecords("a", { after: 0, limit: 9 })).length, 1, "records");
    },
  },
  {
    name: "every session's chain head is listed in key order, deleted ones included",
    async run({ open }) {
      const ledger = await open();
      for (const key of ["b", "a", "c"]) {
        const writer = new SessionWriter(ledger, key);
        await writer.commit([writer.journal("noted")]);
        if (key === "c") await writer.commit([{ kind: "erase" }], { deletedAt: 1 });
      }
      const chain = { n: 1, hash: "hash-1" };
      const all = [
        { key: "a", chain },
        { key: "b", chain },
        { key: "c", chain: { n: 2, hash: "hash-2" } },
      ];
      checkEqual(await ledger.journal.streams("", 10), all, "all");
      checkEqual(await ledger.journal.streams("a", 1), [{ key: "b", chain }], "one after the first");
      checkEqual(await ledger.journal.streams("c", 10), [], "after the last");
    },
  },
  {
    name: "of two seals with one number the first stands",
    async run({ open }) {
      const ledger = await open();
      checkEqual(await ledger.journal.lastCheckpoint(), undefined, "before any");
      checkEqual(await ledger.journal.seal(seal(1, "one")), true, "the first");
      checkEqual(await ledger.journal.seal(seal(1, "other")), false, "the same number again");
      checkEqual(await ledger.journal.seal(seal(2, "two")), true, "the next");
      checkEqual(await ledger.journal.checkpoints(0, 10), [seal(1, "one"), seal(2, "two")], "all");
      checkEqual(await ledger.journal.checkpoints(1, 10), [seal(2, "two")], "after the first");
      checkEqual(await ledger.journal.checkpoints(0, 1), [seal(1, "one")], "limited");
      checkEqual(await ledger.journal.lastCheckpoint(), seal(2, "two"), "the last");
    },
  },
  {
    name: "a seal upon a line or a checkpoint that is not there any more is refused",
    async run({ open }) {
      const ledger = await open();
      const writer = new SessionWriter(ledger, "s1");
      await writer.commit([writer.journal("noted")]);
      const [row] = await ledger.journal.rows({ after: 0, limit: 1 });
      const first = { ...seal(1, "one"), lastSeq: row?.seq ?? 0 };
      const read = { seq: first.lastSeq, hash: row?.hash ?? "" };
      const upon = { rows: [read] };
      const other = { ...read, hash: "another" };
      checkEqual(await ledger.journal.seal(first, { rows: [other] }), false, "another line of the number");
      const later = { ...first, lastSeq: first.lastSeq * 2 };
      const missing = { ...read, seq: later.lastSeq };
      checkEqual(await ledger.journal.seal(later, { rows: [missing] }), false, "a number that none has");
      await writer.commit([writer.journal("noted")]);
      const [last] = await ledger.journal.rows({ after: first.lastSeq, limit: 1 });
      const both = { ...first, lastSeq: last?.seq ?? 0, count: 2 };
      const end = { seq: both.lastSeq, hash: last?.hash ?? "" };
      checkEqual(
        await ledger.journal.seal(both, { rows: [other, end] }),
        false,
        "another line below the last",
      );
      checkEqual(await ledger.journal.seal(first, upon), true, "the line that was read");
      const next = { ...seal(2, "two"), lastSeq: first.lastSeq, count: 1 };
      checkEqual(
        await ledger.journal.seal(next, { ...upon, previous: "another" }),
        false,
        "another checkpoint",
      );
      checkEqual(
        await ledger.journal.seal({ ...next, k: 3 }, { ...upon, previous: first.hash }),
        false,
        "a gap",
      );
      checkEqual(await ledger.journal.seal(next, { ...upon, previous: first.hash }), true, "the one before");
    },
  },
  {
    name: "of seals with one number through two handles one stands",
    needs: "reopen",
    async run({ open, reopen }) {
      const handles = [await open(), await reopen()];
      const sealed = await Promise.all(handles.map((ledger, i) => ledger.journal.seal(seal(1, `r${i}`))));
      checkEqual(sealed.filter(Boolean).length, 1, "how many stand");
    },
  },
];
