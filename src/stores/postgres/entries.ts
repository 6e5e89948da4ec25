import type { Entry, EntryQuery, LostQuery } from "../../engine/index.ts";
import { type Columns, given, toArrayText, toParameter } from "./commits/index.ts";
import { type Database, hasNul, type Row } from "./connection/index.ts";
import { NOW } from "./now.ts";

const QUERY_COLUMNS: Columns = [
  ["facet", "text"],
  ["value", "text"],
  ["sort", "bigint"],
  ["id", "text"],
  ["until", "bigint"],
  ["notes", "text"],
  ["newest", "boolean"],
  ["prefix", "boolean"],
  ["most", "bigint"],
  ["place", "bigint"],
];
const COLUMNS = "e.facet, e.value, e.sort, e.id, e.note";
const PAGES =
  `select ${NOW}, q.place, ${COLUMNS} from ${given(QUERY_COLUMNS, 1, "q")} left join lateral countersign.entries_page(` +
  "q.facet, q.value, q.sort, q.id, q.until, q.notes::text[], q.newest, q.prefix, q.most) e on true";

const LOST_COLUMNS: Columns = [
  ["facet", "text"],
  ["value", "text"],
  ["sort", "bigint"],
  ["id", "text"],
];
const MOST_LOST = "$2";

/** The first answer is of the clock and of owners, the others are entries. However much others hold, it is skipped. */
const LOST = `
select ${NOW}, exists (select 1 from countersign.owners o where o.fenced = 0 and (o.lease_until <= ${NOW} or o.last_beat_at > ${NOW})),
  null, null, null, null, null
union all
select null, null, found.* from ${given(LOST_COLUMNS, 1, "f")} cross join lateral (
  select ${COLUMNS} from (
    with recursive holder as (
      (select e.value from countersign.entries e where e.facet = f.facet and e.value >= f.value order by e.value limit 1)
      union all
      select (select e.value from countersign.entries e where e.facet = f.facet and e.value > h.value order by e.value limit 1)
      from holder h where h.value is not null
    )
    select h.value from holder h where h.value is not null
      and not exists (select 1 from countersign.owners o where o.id = h.value and o.fenced = 0)
  ) lost cross join lateral (
    select ${COLUMNS} from countersign.entries e where e.facet = f.facet and e.value = lost.value
    and (lost.value > f.value or (e.sort, e.id) > (f.sort, f.id)) order by e.sort, e.id limit ${MOST_LOST}
  ) e order by e.value, e.sort, e.id limit ${MOST_LOST}
) found`;

const FIRST = [Number.MIN_SAFE_INTEGER, ""] as const;
const LAST = [Number.MAX_SAFE_INTEGER, "\u{10ffff}"] as const;

/** All in one statement, and so of one moment. */
export async function readEntries(
  database: Database,
  queries: readonly EntryQuery[],
): Promise<{ readonly now?: number; readonly pages: readonly (readonly Entry[])[] }> {
  const pages: Entry[][] = queries.map(() => []);
  const asked = queries.map(toQueryRow).filter((row) => !row.some(hasNul));
  if (asked.length === 0) return { pages };
  const rows = await database.all(PAGES, [toParameter(QUERY_COLUMNS, asked)]);
  for (const [, place, ...entry] of rows) {
    if (entry[0] !== null) pages[place as number]?.push(toEntry(entry));
  }
  return { now: rows[0]?.[0] as number, pages };
}

/** What is held by owners that are fenced or unknown, the time, and whether there are owners to fence first. */
export async function readLost(
  database: Database,
  queries: readonly LostQuery[],
  limit: number,
): Promise<{ readonly now: number; readonly isOverdue: boolean; readonly lost: readonly Entry[] }> {
  const [[now, isOverdue] = [], ...rows] = await database.all(LOST, [
    toParameter(
      LOST_COLUMNS,
      queries.map(({ facet, after = ["", ...FIRST] }) => [facet, ...after]),
    ),
    limit,
  ]);
  return {
    now: now as number,
    isOverdue: isOverdue === true,
    lost: rows.map(([, , ...entry]) => toEntry(entry)),
  };
}

function toQueryRow(query: EntryQuery, place: number): readonly (string | number | boolean | null)[] {
  const { facet, value, limit, notes, until = Number.MAX_SAFE_INTEGER } = query;
  const { newestFirst = false, prefix = false } = query;
  const [sort, id] = query.after ?? (newestFirst ? LAST : FIRST);
  const noted = notes === undefined ? null : toArrayText(notes);
  return [facet, value, sort, id, until, noted, newestFirst, prefix, limit, place];
}

function toEntry([facet, value, sort, id, note]: Row): Entry {
  return {
    facet: facet as string,
    value: value as string,
    sort: sort as number,
    id: id as string,
    ...(note === null ? {} : { note: note as string }),
  };
}
