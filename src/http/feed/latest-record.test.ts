import fc from "fast-check";
import { expect, test } from "vitest";
import type { Ledger } from "../../engine/index.ts";
import { latestRecord } from "./latest-record.ts";

type Journal = Pick<Ledger, "journal" | "lastCheckpoint">;

function journalOf(
  after: (seq: number) => number | undefined,
  sealed = 0,
): { readonly ledger: Journal; reads: number } {
  const seen = { reads: 0 };
  const ledger = {
    lastCheckpoint: async () => (sealed === 0 ? undefined : { lastSeq: sealed }),
    journal: async (range: { readonly after: number }) => {
      seen.reads += 1;
      const seq = after(range.after);
      return seq === undefined ? [] : [{ seq }];
    },
  };
  return Object.assign(seen, { ledger: ledger as unknown as Journal });
}

test("finds the newest record, whatever is missing in between and however much is sealed", async () => {
  const seqs = fc.uniqueArray(fc.integer({ min: 1, max: 100_000 }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(seqs, fc.nat(), async (unsorted, pick) => {
      const sorted = unsorted.toSorted((a, b) => a - b);
      const sealed = sorted[pick % Math.max(sorted.length, 1)] ?? 0;
      // The last: what is sealed is held back for the moment, and with it everything after it.
      for (const [from, until] of [
        [0, Number.POSITIVE_INFINITY],
        [sealed, Number.POSITIVE_INFINITY],
        [sealed, sealed - 1],
      ] as const) {
        const shown = sorted.filter((seq) => seq <= until);
        const { ledger } = journalOf((after) => shown.find((seq) => seq > after), from);
        expect((await latestRecord(ledger))?.seq).toBe(shown.at(-1));
      }
    }),
  );
});

test("reads a few dozen records of a journal of a hundred million", async () => {
  const journal = journalOf((after) => (after < 100_000_000 ? Math.max(after, 0) + 1 : undefined));
  expect((await latestRecord(journal.ledger))?.seq).toBe(100_000_000);
  expect(journal.reads).toBeLessThan(60);
});
