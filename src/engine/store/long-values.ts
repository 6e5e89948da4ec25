import type { JsonValue } from "../../protocol/index.ts";
import { copyJson } from "../common/index.ts";
import type { PolicyNote, Shown, Vote } from "../ledger/index.ts";
import { cutPolicy, cutShown, cutValue, cutVotes } from "../ledger/index.ts";
import type { LongMembers, Packed } from "./document.ts";

/** Members that can be long, by what cuts them to what a list shows. */
const CUTTERS: { readonly [member: string]: (value: never) => unknown } = {
  args: (value: JsonValue) => cutValue(value),
  originalArgs: (value: JsonValue) => cutValue(value),
  result: (value: JsonValue) => cutValue(value),
  shown: (value: Shown) => cutShown(value),
  votes: (value: readonly Vote[]) => cutVotes(value),
  policy: (value: readonly PolicyNote[]) => cutPolicy(value),
  cursor: (value: JsonValue) => cutValue(value),
  output: (value: JsonValue) => cutValue(value),
  value: (value: JsonValue) => cutValue(value),
};

/** Long values of one commit, by the row's name and the member. They are written to its log row. */
export type LongValues = { [row: string]: { [member: string]: JsonValue } };

/** A row that its reader may change without changing ours. */
export function copyRow<Row extends object>(row: Row): Row {
  const copy = { ...row } as Record<string, unknown>;
  for (const member in copy) {
    const value = copy[member];
    if (typeof value === "object") copy[member] = copyJson(value as JsonValue);
  }
  return copy as Row;
}

/**
 * Lays a change over a row; what is long of it goes to the log row `n`. Nothing is shared with the change: a tool, a model
 * or a principal may go on to change what they gave.
 */
export function pack<Row extends object>(
  row: Packed<Row> | undefined,
  change: Partial<Row>,
  { name, n, values }: { readonly name: string; readonly n: number; readonly values: LongValues },
): Packed<Row> {
  const packed: Record<string, unknown> = row === undefined ? { ...change } : { ...row, ...change };
  const before = row?.long;
  let long = before;
  for (const member in change) {
    const value: unknown = change[member];
    const cut = CUTTERS[member]?.(value as never);
    if (cut !== undefined) {
      packed[member] = cut;
      (values[name] ??= {})[member] = value as JsonValue;
      long = { ...long, [member]: n };
      continue;
    }
    if (typeof value === "object") packed[member] = copyJson(value as JsonValue);
    if (long?.[member] !== undefined) long = without(long, member);
  }
  const whole = long === before ? packed : { ...without(packed, "long"), ...toldLong(long) };
  return (whole["owner"] === null ? without(whole, "owner") : whole) as Packed<Row>;
}

function toldLong(long: LongMembers = {}): { readonly long?: LongMembers } {
  return Object.keys(long).length === 0 ? {} : { long };
}

// Not by `delete`: that would make an object slow and large that lives on.
function without<T>(all: { readonly [name: string]: T }, name: string): { readonly [name: string]: T } {
  const { [name]: _gone, ...rest } = all;
  return rest;
}

/** Puts the whole values back. `archived` gives what a log row of the session has under the row's name. */
export function unpack<Row extends object>(
  packed: Packed<Row>,
  archived: (n: number) => { readonly [member: string]: JsonValue } | undefined,
): Row {
  const { long, ...row } = packed;
  if (long === undefined) return copyRow(packed);
  const whole: Record<string, unknown> = { ...copyRow(row) };
  for (const [member, n] of Object.entries(long)) {
    const value = archived(n)?.[member];
    // Erased: what is left of it is what the document has.
    if (value !== undefined) whole[member] = value;
  }
  return whole as Row;
}
