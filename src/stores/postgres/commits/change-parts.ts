import { type Entry, type StoreChange, type StoreCommit, SUSPENSION } from "../../../engine/index.ts";
import { hasNul, type PostgresValue } from "../connection/index.ts";
import { NOW } from "../now.ts";
import { type Columns, type Given, given, toParameter } from "./given.ts";
import { toArrayText, toParts } from "./item-value.ts";

/** Changes outside of documents, with their place among whatever is written in the same statement. */
export interface Placed {
  readonly place: number;
  /** Stays on what is written: whether it was done can be asked afterwards. */
  readonly id: string;
  readonly change: StoreChange;
}

const ITEM_COLUMNS: Columns = [
  ["nth", "integer"],
  ["place", "integer"],
  ["kind", "text"],
  ["id", "text"],
  ["value", "text"],
  ["expires_at", "bigint"],
  ["read", "bigint"],
  ["change_id", "bigint"],
];
const CHECK_COLUMNS: Columns = [
  ["place", "integer"],
  ["kind", "text"],
  ["id", "text"],
  ["version", "bigint"],
];
const WANTED_COLUMNS: Columns = [
  ["nth", "integer"],
  ["place", "integer"],
  ["kind", "text"],
  ["id", "text"],
];
const ENTRY_COLUMNS: Columns = [
  ["place", "integer"],
  ["facet", "text"],
  ["value", "text"],
  ["sort", "bigint"],
  ["id", "text"],
  ["note", "text"],
];

/** How many parameters entries take: those that are added, and those that are removed. */
export const ENTRY_PARAMETERS = 2;

const ALIVE = `(k.expires_at is null or k.expires_at > ${NOW})`;

/** Is the ledger suspended? Then nothing may start. A mark that says anything but "not suspended" counts. */
export const IS_SUSPENDED: string =
  `exists (select 1 from countersign.items where kind = '${SUSPENSION.kind}' and id = '${SUSPENSION.id}' ` +
  `and (value[1] = '"suspended"' and value[2] = 'false') is not true)`;

/** The items that are given, as `i`. */
export const givenItems = (parameter: number): string =>
  `i as (select * from ${given(ITEM_COLUMNS, parameter, "i")})`;

/**
 * Was what has this place done? An array, and no join: nothing is joined but what is given with what is found by an index, so
 * that there is one way only to plan these statements.
 */
export const IS_DONE = "place = any (array (select place from done))";

/** Is some item at this place not in the version that was read? */
export const isStale = (place: string): string =>
  "exists (select 1 from i left join countersign.items k on k.kind = i.kind and k.id = i.id " +
  `and ${ALIVE} where i.place = ${place} and i.read is not null and i.read <> coalesce(k.version, 0))`;

/** The items that are only checked, as `g`. */
export const givenChecks = (parameter: number): string =>
  `g as (select * from ${given(CHECK_COLUMNS, parameter, "g")})`;

/** Is some item that this place checks not there in that version? */
export const isChanged = (place: string): string =>
  "exists (select 1 from g left join countersign.items k on k.kind = g.kind and k.id = g.id " +
  `and ${ALIVE} where g.place = ${place} and g.version <> coalesce(k.version, 0))`;

/**
 * Locks the items that are checked by what is `done`, after all documents: a transaction that changes one of them waits, or has changed it
 * and it is missing here. `ARE_CHECKED` asks for that.
 */
export const LOCK_CHECKED: string = `
checked as materialized (
  select 1 from g join countersign.items k on k.kind = g.kind and k.id = g.id and k.version = g.version and ${ALIVE}
  where ${IS_DONE} order by k.kind, k.id for share of k
)`;

/** Asked when all of it is written. */
export const ARE_CHECKED: string = `(select count(*) from checked) = (select count(*) from g where ${IS_DONE})`;

/**
 * Writes the items of what is `done`. What was judged by its version is written only if it still has it; `areItemsKept` says
 * afterwards whether all were. Sorted, so that no two statements wait for each other.
 */
export const KEEP_ITEMS: string = `
laid as (
  insert into countersign.items as k (kind, id, value, version, expires_at, change_id)
  select i.kind, i.id, countersign.laid_over('{}', coalesce(array_agg(p.part order by i.nth, p.at) filter (where p.at is not null), '{}')),
    count(distinct i.nth), (array_agg(i.expires_at order by i.nth desc))[1], (array_agg(i.change_id order by i.nth desc))[1]
  from i left join lateral unnest(i.value::text[]) with ordinality p (part, at) on true
  where ${IS_DONE} and i.read is null and i.value is not null group by i.kind, i.id order by i.kind, i.id
  on conflict (kind, id) do update set
    value = case when ${ALIVE} then countersign.laid_over(k.value, excluded.value) else excluded.value end,
    version = case when ${ALIVE} then k.version + excluded.version else excluded.version end,
    expires_at = excluded.expires_at, change_id = excluded.change_id
  returning 1
),
first as (
  insert into countersign.items as k (kind, id, value, version, expires_at, change_id)
  select i.kind, i.id, i.value::text[], 1, i.expires_at, i.change_id from i
  where ${IS_DONE} and i.read = 0 and i.value is not null order by i.kind, i.id
  on conflict (kind, id) do update set value = excluded.value, version = 1, expires_at = excluded.expires_at,
    change_id = excluded.change_id where not ${ALIVE}
  returning 1
),
next as (
  update countersign.items k set value = j.value::text[], version = k.version + 1, expires_at = j.expires_at, change_id = j.change_id
  from (select * from i where ${IS_DONE} and i.read > 0 and i.value is not null order by i.kind, i.id) j
  where k.kind = j.kind and k.id = j.id and k.version = j.read and ${ALIVE}
  returning 1
),
gone as (
  delete from countersign.items k
  using (select * from i where ${IS_DONE} and i.value is null order by i.kind, i.id) j
  where k.kind = j.kind and k.id = j.id and (j.read is null or (k.version = j.read and ${ALIVE}))
  returning j.read
)`;

/** Asked when all of it is written. */
export const ARE_ITEMS_KEPT: string =
  "(select count(*) from laid) >= 0 and (select count(*) from first) + (select count(*) from next) " +
  "+ (select count(*) from gone where read is not null) " +
  `= (select count(*) from i where ${IS_DONE} and read is not null and (value is not null or read > 0))`;

/** The items that this place wants, in its order, as they were when the statement began. */
export const wantedItems = (parameter: number, place: string): string =>
  "select json_agg(json_build_array(k.kind, k.id, array_to_json(k.value)::text, k.version, k.expires_at) order by w.nth) " +
  `from ${given(WANTED_COLUMNS, parameter, "w")} join countersign.items k on k.kind = w.kind and k.id = w.id and ${ALIVE} ` +
  `where w.place = ${place}`;

/** Removes entries of what is `done`. */
export const removeEntries = (parameter: number): string => `
removed as (
  delete from countersign.entries e
  using (select * from ${given(ENTRY_COLUMNS, parameter, "g")} where ${IS_DONE}) r
  where e.facet = r.facet and e.value = r.value and e.sort = r.sort and e.id = r.id
)`;

/** Adds entries of what is `done`. */
export const addEntries = (parameter: number): string => `
added as (
  insert into countersign.entries (facet, value, sort, id, note)
  select facet, value, sort, id, note from ${given(ENTRY_COLUMNS, parameter, "g")} where ${IS_DONE}
  on conflict (facet, value, sort, id) do update set note = excluded.note
)`;

/** Both. */
export const keepEntries = (first: number): string => `${removeEntries(first + 1)},${addEntries(first)}`;

export function itemParameter(changes: readonly Placed[]): PostgresValue {
  const rows = changes.flatMap(({ place, id: changeId, change }) =>
    change.items.map(({ kind, id, value, expiresAt, read }) => {
      const parts = value === undefined ? null : toArrayText(toParts(value));
      return [place, kind, id, parts, expiresAt, read, changeId];
    }),
  );
  return toParameter(
    ITEM_COLUMNS,
    rows.map((row, nth) => [nth, ...row]),
  );
}

export function wantedParameter(wants: readonly NonNullable<StoreCommit["wants"]>[]): PostgresValue {
  const rows = wants.flatMap((all, place) =>
    all.filter(({ id }) => !hasNul(id)).map(({ kind, id }, nth) => [nth, place, kind, id]),
  );
  return toParameter(WANTED_COLUMNS, rows);
}

export function checkParameter(checks: readonly NonNullable<StoreCommit["checks"]>[]): PostgresValue {
  return toParameter(
    CHECK_COLUMNS,
    checks.flatMap((all, place) => all.map(({ kind, id, version }) => [place, kind, id, version])),
  );
}

/** What is added, and what is removed. */
export function entryParameters(changes: readonly Placed[]): readonly [PostgresValue, PostgresValue] {
  const { added, removed } = entryRows(changes);
  return [entryParameter(added), entryParameter(removed)];
}

/** The parameter from rows of entries. */
export function entryParameter(rows: readonly Given[]): PostgresValue {
  return toParameter(ENTRY_COLUMNS, rows);
}

/** What is added, and what is removed, as rows. */
export function entryRows(changes: readonly Placed[]): {
  readonly added: readonly Given[];
  readonly removed: readonly Given[];
} {
  const added: Given[] = [];
  const removed: Given[] = [];
  for (const { place, change } of changes) {
    // One statement can touch a row once: what is taken away and added again is only changed.
    const last = new Map((change.add ?? []).map((entry) => [placeOf(entry), entry]));
    for (const { facet, value, sort, id, note } of last.values())
      added.push([place, facet, value, sort, id, note]);
    for (const entry of change.remove ?? []) {
      const { facet, value, sort, id } = entry;
      if (!last.has(placeOf(entry))) removed.push([place, facet, value, sort, id]);
    }
  }
  return { added, removed };
}

function placeOf({ facet, value, sort, id }: Entry): string {
  return `${facet}\n${value}\n${sort}\n${id}`;
}
