import fc from "fast-check";
import { expect, test } from "vitest";
import type { Ledger } from "../../engine/index.ts";
import { latestSeq } from "./latest-seq.ts";

type Journal = Pick<Ledger, "journal" | "lastCheckpoint">;

function journalOf(seqs: readonly number[], sealed: number): { readonly ledger: Journal; reads: number } {
  const seen = { reads: 0 };
  const ledger = {
    lastCheckpoint: async () => (sealed === 0 ? undefined : { lastSeq: sealed }),
    journal: async ({ after }: { readonly after: number }) => {
      seen.reads += 1;
      return seqs.filter((seq) => seq > after).slice(0, 1);
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
      for (const from of [0, sealed]) {
        const { ledger } = journalOf(sorted, from);
        expect(await latestSeq(ledger)).toBe(sorted.at(-1) ?? 0);
      }
    }),
  );
});

test("reads a few dozen records of a journal of a hundred million", async () => {
  const journal = journalOf([100_000_000], 0);
  expect(await latestSeq(journal.ledger)).toBe(100_000_000);
  expect(journal.reads).toBeLessThan(60);
});
