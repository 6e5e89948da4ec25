import type { JournalRecord, Ledger } from "../ledger/index.ts";

/** A record of the journal that somebody has read up to; one whose hash is not known is taken at its number. */
export interface JournalPlace {
  readonly seq: number;
  readonly hash?: string;
}

/**
 * What follows in the journal, or undefined where the record at this place is not the one that was read. A database that
 * outlived a crash of its server may have lost its last unsynced commits, and have given their numbers to others since.
 * The record is looked for in the same statement; a store that holds back its newest records for a moment may hold back
 * this one too, and then it is undefined as well.
 */
export async function recordsAfter(
  ledger: Pick<Ledger, "journal">,
  { seq, hash }: JournalPlace,
  range: { readonly limit: number; readonly until?: number; readonly bytes?: number },
): Promise<readonly JournalRecord[] | undefined> {
  if (hash === undefined) return ledger.journal.records({ ...range, after: seq });
  const [known, ...news] = await ledger.journal.records({ ...range, after: seq - 1, limit: range.limit + 1 });
  if (known?.seq !== seq || known.hash !== hash) return undefined;
  // The known one may have been all that there was room for.
  return news.length === 0 && range.bytes !== undefined
    ? ledger.journal.records({ ...range, after: seq })
    : news;
}
