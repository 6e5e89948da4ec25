import type { JsonValue } from "../../protocol/index.ts";
import { copyJson } from "../common/index.ts";
import type { Shown, Vote } from "../ledger/index.ts";
import { cutShown, cutValue, cutVotes } from "../ledger/preview.ts";
import type { Packed } from "./document.ts";

/** Members that can be long, by what cuts them to what a list shows. */
const CUTTERS: { readonly [member: string]: (value: never) => unknown } = {
  args: (value: JsonValue) => cutValue(value),
  originalArgs: (value: JsonValue) => cutValue(value),
  result: (value: JsonValue) => cutValue(value),
  shown: (value: Shown) => cutShown(value),
  votes: (value: readonly Vote[]) => cutVotes(value),
  cursor: (value: JsonValue) => cutValue(value),
  output: (value: JsonValue) => cutValue(value),
  value: (value: JsonValue) => cutValue(value),
};

/** Long values of one commit, by the row's name and the member. They are written to its log row. */
export type LongValues = { [row: string]: { [member: string]: JsonValue } };

/** Lays a change over a row; what is long of it goes to the log row `n`. */
export function pack<Row extends object>(
  row: Packed<Row> | undefined,
  change: Partial<Row>,
  { name, n, values }: { readonly name: string; readonly n: number; readonly values: LongValues },
): Packed<Row> {
  const packed: Record<string, unknown> = { ...row };
  const long: Record<string, number> = { ...row?.long };
  for (const [member, value] of Object.entries(change)) {
    if (value === undefined) continue;
    delete long[member];
    // An owner is cleared with null.
    if (value === null && member === "owner") {
      delete packed[member];
      continue;
    }
    const cut = CUTTERS[member]?.(value as never);
    // A tool or a model may go on to change what it gave.
    const isGiven = member in CUTTERS && cut === undefined;
    packed[member] = isGiven ? copyJson(value as JsonValue) : (cut ?? value);
    if (cut === undefined) continue;
    long[member] = n;
    (values[name] ??= {})[member] = value as JsonValue;
  }
  delete packed["long"];
  if (Object.keys(long).length > 0) packed["long"] = long;
  return packed as Packed<Row>;
}

/** Puts the whole values back. `archived` gives what a log row of the session has under the row's name. */
export function unpack<Row extends object>(
  packed: Packed<Row>,
  archived: (n: number) => { readonly [member: string]: JsonValue } | undefined,
): Row {
  const { long, ...row } = packed;
  if (long === undefined) return packed;
  const whole: Record<string, unknown> = { ...row };
  for (const [member, n] of Object.entries(long)) {
    const value = archived(n)?.[member];
    // Erased: what is left of it is what the document has.
    if (value !== undefined) whole[member] = value;
  }
  return whole as Row;
}
