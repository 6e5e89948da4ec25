import type { Ledger } from "../../engine/index.ts";

const FIRST_STRIDE = 1024;

/** The newest journal record's `seq`, 0 if there is none. A few dozen reads by key, however long the journal is. */
export async function latestSeq(ledger: Pick<Ledger, "journal" | "lastCheckpoint">): Promise<number> {
  const isBefore = async (seq: number): Promise<boolean> =>
    (await ledger.journal({ after: seq, limit: 1 })).length > 0;
  let low = (await ledger.lastCheckpoint())?.lastSeq ?? 0;
  if (!(await isBefore(low))) return low;
  let stride = FIRST_STRIDE;
  while (await isBefore(low + stride)) {
    low += stride;
    stride *= 2;
  }
  let high = low + stride;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await isBefore(middle)) low = middle;
    else high = middle;
  }
  return high;
}
