/** Names and types of what rows are made of. */
export type Columns = readonly (readonly [name: string, type: string])[];

/** Rows that a statement is given as one parameter: however many there are, it is planned once. */
export function given(columns: Columns, parameter: number, alias: string): string {
  const typed = columns.map(([name, type]) => `${name} ${type}`);
  return `json_to_recordset($${parameter}::json) as ${alias} (${typed.join(", ")})`;
}

/** What rows are made of; what is left out is null. */
export type Given = readonly (string | number | boolean | null | undefined)[];

/**
 * The parameter, from rows with the same columns. One text, because each parameter costs the driver more than what is
 * in it.
 */
export function toParameter(columns: Columns, rows: readonly Given[]): string {
  return JSON.stringify(rows.map((row) => toObject(columns, row)));
}

function toObject(columns: Columns, row: Given): object {
  const object: { [name: string]: Given[number] } = {};
  for (let at = 0; at < columns.length; at += 1) {
    const value = row[at];
    // The server takes no half of a character.
    object[columns[at]?.[0] as string] = typeof value === "string" ? value.toWellFormed() : value;
  }
  return object;
}
