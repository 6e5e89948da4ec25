import type { JsonValue } from "../../protocol/index.ts";
import { copyJson } from "../common/index.ts";
import type { Shown, Vote } from "../ledger/index.ts";
import { cutShown, cutValue, cutVotes } from "../ledger/index.ts";
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

const LONG_MEMBERS = Object.entries(CUTTERS);

/** Long values of one commit, by the row's name and the member. They are written to its log row. */
export type LongValues = { [row: string]: { [member: string]: JsonValue } };

/** A row that its reader may change without changing ours. */
export function copyRow<Row extends object>(row: Row): Row {
  return copyJson(row as unknown as JsonValue) as unknown as Row;
}

/** Lays a change over a row; what is long of it goes to the log row `n`. */
export function pack<Row extends object>(
  row: Packed<Row> | undefined,
  change: Partial<Row>,
  { name, n, values }: { readonly name: string; readonly n: number; readonly values: LongValues },
): Packed<Row> {
  const given = ownMembers(change);
  const { long: before, ...rest }: Packed<object> = row ?? {};
  const packed: Record<string, unknown> = { ...rest, ...given };
  const long: Record<string, number> = { ...before };
  for (const [member, cutter] of LONG_MEMBERS) {
    const value = given[member];
    if (value === undefined) continue;
    const cut = cutter(value as never);
    // A tool or a model may go on to change what it gave.
    packed[member] = cut ?? copyJson(value as JsonValue);
    delete long[member];
    if (cut === undefined) continue;
    long[member] = n;
    (values[name] ??= {})[member] = value as JsonValue;
  }
  if (Object.keys(long).length > 0) packed["long"] = long;
  return (packed["owner"] === null ? withoutOwner(packed) : packed) as Packed<Row>;
}

/** A tool's options or a principal are others' to change. Long members are copied when they are packed. */
function ownMembers(change: object): { readonly [member: string]: unknown } {
  const own: { [member: string]: unknown } = { ...change };
  for (const [member, value] of Object.entries(own))
    if (typeof value === "object" && value !== null && !(member in CUTTERS)) own[member] = copyRow(value);
  return own;
}

// Not by `delete`: that would make an object slow and large that lives on.
function withoutOwner({ owner: _owner, ...packed }: Record<string, unknown>): Record<string, unknown> {
  return packed;
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
