/** A table of a ledger that is copied, with its columns. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * What a copy of a ledger consists of, beside its digest key. Owners are left out: no process holds anything in a copy.
 */
export const COPIED_TABLES: readonly CopiedTable[] = [
  {
    name: "documents",
    columns: ["key", "app", "user", "id", "version", "head", "updated_at", "deleted", "body"],
  },
  {
    name: "log",
    columns: ["seq", "session", "n", "at", "kinds", "digest", "hash", "events", "body", "archived"],
  },
  { name: "entries", columns: ["facet", "value", "sort", "id", "note"] },
  { name: "items", columns: ["kind", "id", "version", "expires_at", "value"] },
  { name: "checkpoints", columns: ["k", "last_seq", "count", "root", "hash", "at"] },
];

/** Some rows of a table, in the order of its columns. Values of items are JSON. */
export interface CopiedRows {
  readonly table: CopiedTable;
  readonly rows: readonly (readonly (null | number | string)[])[];
}

/** All of a ledger, as it was at one moment. */
export interface LedgerContent {
  readonly digestKey: Uint8Array;
  readonly parts: AsyncIterable<CopiedRows>;
}
