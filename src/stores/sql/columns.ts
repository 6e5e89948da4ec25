// Each list is in the order in which `rows.ts` reads and writes it.
export const SESSION_COLUMNS = [
  "key",
  "app",
  "user",
  "id",
  "version",
  "next_seq",
  "open",
  "ready",
  "bytes",
  "chain_n",
  "chain_hash",
  "created_at",
  "updated_at",
  "deleted_at",
] as const;

export const FRAME_COLUMNS = [
  "id",
  "session",
  "app",
  "invocation",
  "parent_frame",
  "parent_call",
  "kind",
  "agent",
  "path",
  "branch",
  "cursor",
  "status",
  "turn",
  "calls",
  "open",
  "owner",
  "output",
  "lost",
] as const;

export const CALL_COLUMNS = [
  "id",
  "session",
  "app",
  "frame",
  "turn",
  "ord",
  "wire_id",
  "agent",
  "tool",
  "args",
  "args_digest",
  "definition_digest",
  "secrets",
  "repeatable",
  "unparsed",
  "status",
  "attempt",
  "owner",
  "started_at",
  "ended_at",
  "confirmation",
  "rounds",
  "refused",
  "result",
  "original_args",
  "permit",
  "requesters",
  "lost",
] as const;

export const CONFIRMATION_COLUMNS = [
  "id",
  "call",
  "round",
  "session",
  "app",
  "agent",
  "path",
  "user",
  "tool",
  "requesters",
  "approvers",
  "invocation",
  "args_digest",
  "shown",
  "shown_version",
  "status",
  "requested_at",
  "deadline",
  "votes",
  "withdrawal",
] as const;

/** With those that are written, and read only by lists and by the database itself. */
export const STORED_CALL_COLUMNS: readonly string[] = [...CALL_COLUMNS, "args_cut", "result_cut"];
export const STORED_CONFIRMATION_COLUMNS: readonly string[] = [
  ...CONFIRMATION_COLUMNS,
  "viewers",
  "shown_cut",
  "votes_cut",
];

export const STEP_COLUMNS = ["call", "kind", "name", "occurrence", "status", "digest", "value"] as const;
export const JOURNAL_COLUMNS = ["seq", "stream", "n", "at", "kind", "body_digest", "hash", "body"] as const;
export const CHECKPOINT_COLUMNS = ["k", "last_seq", "count", "root", "hash", "at"] as const;
export const MEMO_COLUMNS = [
  "principal",
  "route",
  "key",
  "request_digest",
  "response",
  "expires_at",
] as const;
export const OWNER_COLUMNS = ["id", "host", "pid", "last_beat_at", "lease_until", "fenced"] as const;

/** The columns as a select list, of one table among several where an alias is given. */
export function list(columns: readonly string[], alias?: string): string {
  return alias === undefined ? columns.join(", ") : columns.map((column) => `${alias}.${column}`).join(", ");
}

/** `insert into …` for all the columns. */
export function insertInto(table: string, columns: readonly string[]): string {
  return `insert into ${table} (${list(columns)}) values (${columns.map(() => "?").join(", ")})`;
}
