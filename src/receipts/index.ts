/**
 * Receipts as an operator sets them up: the file that names the targets, the targets themselves, and the schedule on which
 * a server publishes. Decided here: what the file may say, when a receipt counts as kept in a file, at an address or in a
 * git working copy, and that the same receipt is never there twice where that can be seen. What a receipt says, and that
 * one process at a time publishes, is decided in `engine/receipts`.
 */

export { openTargets } from "./open-targets.ts";
export { receiptFileLines } from "./receipt-lines.ts";
export { parseReceipts, type ReceiptSettings } from "./receipts-file.ts";
export { type PublishListener, scheduleReceipts } from "./schedule.ts";
