/**
 * What is written: commits of sessions, many in one statement, and changes outside of them. Decided here: which commits go
 * together, what is judged in the statement and in which order, and whether something was done whose answer was lost.
 */
export { applyChange } from "./change.ts";
export { CommitQueue } from "./commit-queue.ts";
export { type Columns, given, toParameter } from "./given.ts";
export { fromParts, toArrayText, toItem } from "./item-value.ts";
export { renameSession } from "./rename-session.ts";
export { takeDue } from "./take-due.ts";
export { WantedItems } from "./wanted-items.ts";
