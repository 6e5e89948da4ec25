/** Is this sent beside the cycles, and not by each? Other processes are told of changes at intervals. */
export function isBackground(text: string): boolean {
  return /pg_notify|^listen |^select 1$/.test(text);
}

/** Does this commit something? */
export function isCommit(text: string): boolean {
  return text.includes(" moved as (") || text.includes("\nmoved as (");
}

/** Must it be on disk before it is answered? */
export function isSynced(text: string): boolean {
  return text.includes("set_config('synchronous_commit', 'on'");
}
