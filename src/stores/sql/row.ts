/** What a database stores, and what a statement is given. */
export type SqlValue = null | number | bigint | string | Uint8Array;

/** A result row, in the order of the columns asked for. */
export type Row = readonly SqlValue[];
