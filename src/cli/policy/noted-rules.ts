import { type ConfirmationRecord, type Ledger, type PolicyNote, parseEntry } from "../../engine/index.ts";

const PAGE = 200;
const PAGE_BYTES = 4_000_000;

/**
 * Which rules applied to a question. The journal says it; only of arguments that its approver put in the place of others
 * the question says it itself. None where it is erased.
 */
export async function notedRules(
  { journal }: Pick<Ledger, "journal">,
  { id, session, policy }: ConfirmationRecord,
): Promise<readonly PolicyNote[]> {
  if (policy !== undefined) return policy;
  for (let after = 0; ; ) {
    const records = await journal.sessionRecords(session, { after, limit: PAGE, bytes: PAGE_BYTES });
    for (const record of records) {
      if (record.kind !== "confirmation-requested") continue;
      const entry = parseEntry(record);
      if (entry.state !== "readable" || entry.kind !== "confirmation-requested") continue;
      if (entry.body.confirmation === id) return entry.body.policy ?? [];
    }
    const last = records.at(-1);
    if (last === undefined) return [];
    after = last.n;
  }
}
