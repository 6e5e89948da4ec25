/**
 * Receipts of the journal's head: short signed statements of what a ledger had at a time, to be kept where nobody who can
 * write to the database can take them back. Decided here: what a receipt says and who can check it; that the receipts of a
 * target are a series without gaps; which process publishes, and what it does again after it died; and what is a fault of
 * a series, alone and beside its ledger. Where a target is and how it is reached is left to others.
 */

export { type ReceiptVerification, verifyReceipts } from "./check.ts";
export type { Receipt } from "./format.ts";
export { type Kept, type PublishRun, publishReceipts, type ReceiptTarget, signingSecret } from "./publish.ts";
export { isReceiptKey, receiptKeyOf } from "./signing-key.ts";
