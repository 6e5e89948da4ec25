/** What a check of receipts could not have found, each in a sentence or two. */
export function receiptLimits({
  hasKey,
  hasLedger,
}: {
  readonly hasKey: boolean;
  readonly hasLedger: boolean;
}): readonly string[] {
  return [
    ...(hasKey ? [] : [NO_KEY]),
    ...(hasLedger ? [] : [NO_LEDGER]),
    "Receipts made anew by somebody who has COUNTERSIGN_SECRET or can write to the ledger's database, if they could also replace all earlier ones here. Keep receipts where neither can change them.",
    "Removal of commits that are newer than the newest receipt.",
  ];
}

const NO_KEY =
  "Receipts made anew with another key. Give the public key that `countersign audit key` prints, from where you know it to be right.";
const NO_LEDGER =
  "Missing newest receipts, and whether the journal still has what the receipts say. Run `countersign audit verify --receipts FILE` where the ledger is.";
