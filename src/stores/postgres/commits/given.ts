import type { PostgresValue } from "../connection/index.ts";

/** Names and types of what rows are made of. */
export type Columns = readonly (readonly [name: string, type: string])[];

/** Rows that a statement is given, one array for each column: however many there are, it is planned once. */
export function given(columns: Columns, first: number, alias: string): string {
  const arrays = columns.map(([, type], at) => `$${first + at}::${type}[]`);
  return `unnest(${arrays.join(", ")}) as ${alias} (${columns.map(([name]) => name).join(", ")})`;
}

/** The arrays, from rows with the same columns. */
export function toArrays(
  columns: Columns,
  rows: readonly (readonly (string | number | boolean | null)[])[],
): readonly PostgresValue[] {
  return columns.map((_, at) => rows.map((row) => row[at] ?? null));
}
