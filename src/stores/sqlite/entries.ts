import type { Entry, EntryQuery } from "../../engine/index.ts";
import type { Database } from "./connection/database.ts";
import type { Row, SqlValue } from "./connection/driver.ts";

const SELECT = "select facet, value, sort, id, note from entries where facet = ?";
const UPWARDS = `${SELECT} and value = ? and (sort, id) > (?, ?) and sort <= ?`;
const DOWNWARDS = `${SELECT} and value = ? and (sort, id) < (?, ?) and sort <= ?`;
const BY_PREFIX = `${SELECT} and value >= ? and value < ? and sort <= ?`;
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
  return rows.map(toEntry);
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

export function toEntry([facet, value, sort, id, note]: Row): Entry {
  return {
    facet: facet as string,
    value: value as string,
    sort: sort as number,
    id: id as string,
    ...(note === null ? {} : { note: note as string }),
  };
}
