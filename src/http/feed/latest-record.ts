import type { JournalRecord, Ledger } from "../../engine/index.ts";

/** The newest journal record, undefined if there is none. A few dozen reads by key, however long the journal is. */
export async function latestRecord(
  ledger: Pick<Ledger, "journal" | "lastCheckpoint">,
): Promise<JournalRecord | undefined> {
  const after = async (seq: number): Promise<JournalRecord | undefined> =>
    (await ledger.journal({ after: seq, limit: 1 }))[0];
  const sealed = (await ledger.lastCheckpoint())?.lastSeq ?? 0;
  // A store may withhold its newest records for a moment, also sealed ones.
  let newest = (await after(sealed - 1)) ?? (await after(0));
  if (newest === undefined) return undefined;
  let stride = 1;
  for (
    let next = await after(newest.seq + stride);
    next !== undefined;
    next = await after(next.seq + stride)
  ) {
    newest = next;
    stride *= 2;
  }
  let high = newest.seq + stride;
  while (high > newest.seq) {
    const middle = Math.floor((newest.seq + high) / 2);
    const next = await after(middle);
    if (next === undefined) high = middle;
    else newest = next;
  }
  return newest;
}
