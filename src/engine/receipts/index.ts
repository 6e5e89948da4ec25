/**
 * Receipts of the journal's head: short signed statements of what a ledger had at a time, to be kept where nobody who can
 * write to the database can take them back. Decided here: what a receipt says and who can check it; that the receipts of a
 * target are a series without gaps; which process publishes, and what is repeated after a crash; and which faults of
 * a series a check finds, with its ledger and without. Where a target is and how it is reached is decided in `src/receipts`.
 */

export { type ReceiptVerification, verifyReceipts } from "./check.ts";
export type { Receipt } from "./format.ts";
export { type Kept, type PublishRun, publishReceipts, type ReceiptTarget, signingSecret } from "./publish.ts";
export { isReceiptKey, receiptKeyOf } from "./signing-key.ts";
