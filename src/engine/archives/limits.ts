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
    "Changes to the ledger's documents before they were archived: the calls and votes at the beginning of a session are copied from them. The proof is in the records of the journal, and in the HMAC of each vote.",
  ];
}

const UNKEYED =
  "Forged files. Without COUNTERSIGN_SECRET anyone can write a complete archive with other records that passes this check.";
const NO_LEDGER =
  "Missing newest files. Without --ledger, this check cannot know how many files there should be, or whether a session was ever archived.";
const COPIED =
  "Sessions that were removed from the ledger before they were archived. `countersign audit verify` on the ledger finds those while their checkpoints are there.";
