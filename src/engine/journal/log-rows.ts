import type { Ledger, LogRow } from "../ledger/index.ts";

const PAGE = 500;
const MOST_BYTES = 4_000_000;

/** The lines of the log after a place, in the order of commits, read page by page. */
export async function* logRows(ledger: Pick<Ledger, "journal">, after: number): AsyncGenerator<LogRow> {
  for (let last = after; ; ) {
    // A page is short where lines are long.
    const page = await ledger.journal.rows({ after: last, limit: PAGE, bytes: MOST_BYTES });
    yield* page;
    const newest = page.at(-1);
    if (newest === undefined) return;
    last = newest.seq;
  }
}
