/** What the database stores, and what a statement is given. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** A result row, in the order of the columns asked for. */
export type Row = readonly SqlValue[];

/** The part of a prepared statement that the store needs. */
export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
  iterate(...values: SqlValue[]): Iterable<unknown>;
  setReturnArrays(enabled: boolean): void;
}

/** The part of a SQLite connection that the store needs; `node:sqlite` has this shape. */
export interface Driver {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
