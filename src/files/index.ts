/**
 * Files that must survive a power failure: for the SIEM export, receipts and archives.
 * Decided here: when something that was written is safe.
 */
export { type Appended, appendSafely, codeOf } from "./append-safely.ts";
export { syncFolder } from "./sync-folder.ts";
