import type { Ledger, LogRow } from "../ledger/index.ts";

const PAGE = 500;
const MOST_BYTES = 4_000_000;

/** The lines of the log after a place, in the order of commits. */
export async function* logRows(ledger: Pick<Ledger, "journal">, after: number): AsyncGenerator<LogRow> {
  for await (const page of logPages(ledger, after)) yield* page;
}

/** The same by pages: a database may crash between two of them, and lose what the first one had. */
export async function* logPages(
  ledger: Pick<Ledger, "journal">,
  after: number,
): AsyncGenerator<readonly [LogRow, ...LogRow[]]> {
  for (let last = after; ; ) {
    // A page is short where lines are long.
    const [first, ...others] = await ledger.journal.rows({ after: last, limit: PAGE, bytes: MOST_BYTES });
    if (first === undefined) return;
    yield [first, ...others];
    last = (others.at(-1) ?? first).seq;
  }
}
