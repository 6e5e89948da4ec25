import { type JournalEntry, parseEntry } from "../journal/index.ts";
import type { Ledger } from "../ledger/index.ts";
import type { RefusedDecision } from "./decision.ts";

// A record may have a megabyte of arguments.
const PAGE = 100;

/**
 * Answers a repeated decision, withdrawal or settlement: the same one gets the stored result, a different one is
 * refused.
 */
export function answerAgain<Stored extends object>(
  isSame: boolean,
  stored: Stored,
  refused: RefusedDecision,
): (Stored & { readonly ok: true; readonly repeated: true }) | RefusedDecision {
  return isSame ? { ...stored, ok: true, repeated: true } : refused;
}

/** Is there such a record in the session's journal? Erased and unreadable records do not count. */
export async function wasRecorded(
  ledger: Pick<Ledger, "journal">,
  session: string,
  isSame: (entry: JournalEntry) => boolean,
): Promise<boolean> {
  for (let after = 0; ; ) {
    const page = await ledger.journal.sessionRecords(session, { after, limit: PAGE });
    const found = page.map(parseEntry).some((entry) => entry.state === "readable" && isSame(entry));
    const last = page.at(-1);
    if (found || last === undefined || page.length < PAGE) return found;
    after = last.n;
  }
}
