/** What a check of archive files could not have found, each in a sentence or two. */
export function archiveLimits({
  keyed,
  hasLedger,
}: {
  readonly keyed: boolean;
  readonly hasLedger: boolean;
}): readonly string[] {
  return [
    ...(keyed ? [] : [UNKEYED]),
    ...(hasLedger ? [] : [NO_LEDGER]),
    COPIED,
    "What was changed in the ledger before it was archived, outside of the journal: the calls and the votes that stand before the lines of a session are copied from the documents. The records of the journal, and the HMAC in each vote, are the proof.",
  ];
}

const UNKEYED =
  "Files made anew. Without COUNTERSIGN_SECRET nothing in them is keyed: anyone can write a complete archive with other records that passes this check.";
const NO_LEDGER =
  "Missing newest files. Without --ledger, this check cannot know how many files there should be, or whether a session was ever archived.";
const COPIED =
  "Sessions that were removed from the ledger before they were archived. `countersign audit verify` on the ledger finds those while their checkpoints are there.";
