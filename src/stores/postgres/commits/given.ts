import type { PostgresValue } from "../connection/index.ts";

/** Names and types of what rows are made of. */
export type Columns = readonly (readonly [name: string, type: string])[];

/** Rows that a statement is given, one array for each column: however many there are, it is planned once. */
export function given(columns: Columns, first: number, alias: string): string {
  const arrays = columns.map(([, type], at) => `$${first + at}::${type}[]`);
  return `unnest(${arrays.join(", ")}) as ${alias} (${columns.map(([name]) => name).join(", ")})`;
}

/** What rows are made of; what is left out is null. */
export type Given = readonly (string | number | boolean | null | undefined)[];

/** The arrays, from rows with the same columns. */
export function toArrays(columns: Columns, rows: readonly Given[]): readonly PostgresValue[] {
  return columns.map((_, at) => rows.map((row) => row[at] ?? null));
}
