import type { Entry, EntryQuery } from "../../engine/index.ts";
import type { Database } from "./connection/database.ts";
import type { Row, SqlValue } from "./connection/driver.ts";

const BY_PREFIX =
  "select value, sort, id, note from entries where facet = ? and value >= ? and value < ? and sort <= ?";
// Somebody in many groups reads under many labels for one page: what is known is not read.
const SELECT = "select sort, id, note from entries where facet = ?";
const UPWARDS = `${SELECT} and value = ? and (sort, id) > (?, ?) and sort <= ?`;
const DOWNWARDS = `${SELECT} and value = ? and (sort, id) < (?, ?) and sort <= ?`;
const NOTED = " and note in (select value from json_each(?) wanted)";

/** Behind every text that can be stored. */
const END = "\u{10ffff}";
const FIRST = [Number.MIN_SAFE_INTEGER, ""] as const;
const LAST = [Number.MAX_SAFE_INTEGER, END] as const;

export function readEntries(database: Database, query: EntryQuery): readonly Entry[] {
  const { sql, values, order } = rangeOf(query);
  const { notes, limit } = query;
  const noted = notes === undefined ? "" : NOTED;
  const given = notes === undefined ? [] : [JSON.stringify(notes)];
  const rows = database.all(`${sql}${noted} order by ${order} limit ?`, [
    ...values,
    ...given,
    Math.min(limit, Number.MAX_SAFE_INTEGER),
  ]);
  const { facet, value, prefix } = query;
  return prefix === true ? entriesOf(facet, rows) : rows.map((entry) => toEntry(facet, value, entry));
}

/** Entries of a facet, from rows that begin with their values. */
export function entriesOf(facet: string, rows: readonly Row[]): readonly Entry[] {
  return rows.map(([value, ...entry]) => toEntry(facet, value as string, entry));
}

function rangeOf({ facet, value, after, until = Number.MAX_SAFE_INTEGER, newestFirst, prefix }: EntryQuery): {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly order: string;
} {
  if (prefix === true)
    return { sql: BY_PREFIX, values: [facet, value, value + END, until], order: "value, sort, id" };
  if (newestFirst === true)
    return {
      sql: DOWNWARDS,
      values: [facet, value, ...(after ?? LAST), until],
      order: "sort desc, id desc",
    };
  return { sql: UPWARDS, values: [facet, value, ...(after ?? FIRST), until], order: "sort, id" };
}

function toEntry(facet: string, value: string, [sort, id, note]: Row): Entry {
  const entry = { facet, value, sort: sort as number, id: id as string };
  return note === null ? entry : { ...entry, note: note as string };
}
