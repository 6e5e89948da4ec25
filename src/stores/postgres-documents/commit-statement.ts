import type { Entry, StoreCommit } from "../../engine/index.ts";
import type { PostgresValue } from "../postgres/driver.ts";
import { NOW } from "../postgres/now.ts";

/** A commit and the id under which it is sent, so that it is known afterwards whether it was done. */
export interface Sent {
  readonly id: string;
  readonly commit: StoreCommit;
}

// One array for each column: any number of commits is one statement, planned once.
const COLUMNS = [
  ["key", "text"],
  ["version", "bigint"],
  ["head", "text"],
  ["app", "text"],
  ["usr", "text"],
  ["name", "text"],
  ["hash", "text"],
  ["updated_at", "bigint"],
  ["deleted", "boolean"],
  ["document", "text"],
  ["owner", "text"],
  ["before", "bigint"],
  ["since", "bigint"],
  ["commit_id", "bigint"],
  ["at", "bigint"],
  ["kinds", "text"],
  ["digest", "text"],
  ["events", "bigint"],
  ["body", "text"],
  ["archived", "text"],
] as const;
const ENTRY_COLUMNS = [
  ["key", "text"],
  ["facet", "text"],
  ["value", "text"],
  ["sort", "bigint"],
  ["id", "text"],
  ["note", "text"],
] as const;

type Columns = readonly (readonly [name: string, type: string])[];

const ADDED_AT = COLUMNS.length + 1;
const REMOVED_AT = ADDED_AT + ENTRY_COLUMNS.length;

const given = (columns: Columns, first: number, name: string): string =>
  `unnest(${columns.map(([, type], i) => `$${first + i}::${type}[]`).join(", ")}) as ${name} (${columns
    .map(([column]) => column)
    .join(", ")})`;

const ALIVE =
  `(c.owner is null or exists (select 1 from countersign.owners o where o.id = c.owner and o.fenced = 0 ` +
  `and o.lease_until > ${NOW} and countersign.may_claim(o.history, ${NOW})))`;
const IN_TIME = `(c.before is null or ${NOW} < c.before) and (c.since is null or ${NOW} >= c.since)`;

const UNSYNCED = "set_config('synchronous_commit', 'off', true)";
const SYNCED =
  "case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', true) end";

/**
 * Any number of commits of different sessions as one statement. Each is judged alone, by the version of its document;
 * those that are not answered were refused, and have written nothing. A lease that ran out while the statement waited for
 * a lock raises an error, which undoes all of them: they are then sent one by one.
 */
const COMMIT = (sync: boolean): string => `
with c as (select * from ${given(COLUMNS, 1, "g")}),
moved as (
  update countersign.documents d
  set version = d.version + 1, head = c.hash, updated_at = c.updated_at, deleted = c.deleted, body = c.document
  from c where d.key = c.key and d.version = c.version and (c.head is null or d.head = c.head) and ${IN_TIME} and ${ALIVE}
  returning d.key
),
made as (
  insert into countersign.documents (key, app, "user", id, version, head, updated_at, deleted, body)
  select c.key, c.app, c.usr, c.name, 1, c.hash, c.updated_at, c.deleted, c.document from c
  where c.version = 0 and ${IN_TIME} and ${ALIVE}
  on conflict do nothing returning key
),
done as (select key from moved union all select key from made),
logged as (
  insert into countersign.log (seq, session, n, at, kinds, digest, hash, events, commit_id, body, archived)
  select countersign.next_position(), c.key, c.version + 1, c.at, c.kinds, c.digest, c.hash, c.events, c.commit_id, c.body, c.archived
  from c join done using (key)
),
removed as (
  delete from countersign.entries e using (select r.* from ${given(ENTRY_COLUMNS, REMOVED_AT, "r")} join done using (key)) r
  where e.facet = r.facet and e.value = r.value and e.sort = r.sort and e.id = r.id
),
added as (
  insert into countersign.entries (facet, value, sort, id, note)
  select a.facet, a.value, a.sort, a.id, a.note from ${given(ENTRY_COLUMNS, ADDED_AT, "a")} join done using (key)
  on conflict (facet, value, sort, id) do update set note = excluded.note
)
select done.key, case when ${ALIVE} then true else countersign.refuse() is null end, ${sync ? SYNCED : UNSYNCED}
from done join c using (key)`;

const TEXTS = { synced: COMMIT(true), unsynced: COMMIT(false) };

export function commitStatement(
  group: readonly Sent[],
  sync: boolean,
): { readonly text: string; readonly values: readonly PostgresValue[] } {
  const columns: PostgresValue[][] = COLUMNS.map(() => []);
  for (const sent of group) for (const [at, value] of rowOf(sent).entries()) columns[at]?.push(value);
  const added = entryColumns(group, ({ add }) => add);
  const removed = entryColumns(group, ({ remove }) => remove);
  return {
    text: sync ? TEXTS.synced : TEXTS.unsynced,
    values: [...columns, ...added, ...removed] as unknown as PostgresValue[],
  };
}

function rowOf({ id, commit }: Sent): readonly PostgresValue[] {
  const {
    key,
    version,
    head = null,
    create,
    document,
    log,
    owner = null,
    before = null,
    from = null,
  } = commit;
  const { updatedAt, deletedAt } = document.head;
  return [
    key,
    version,
    head,
    create?.app ?? null,
    create?.user ?? null,
    create?.id ?? null,
    log.hash,
    updatedAt,
    deletedAt !== undefined,
    JSON.stringify(document),
    owner,
    before,
    from,
    id,
    log.at,
    log.kinds.length === 0 ? "" : JSON.stringify(log.kinds),
    log.digest,
    log.events,
    log.body,
    log.archived === undefined ? null : JSON.stringify(log.archived),
  ] as PostgresValue[];
}

function entryColumns(
  group: readonly Sent[],
  entries: (commit: StoreCommit) => readonly Entry[],
): readonly PostgresValue[][] {
  const columns: PostgresValue[][] = ENTRY_COLUMNS.map(() => []);
  for (const { commit } of group) {
    for (const { facet, value, sort, id, note = null } of entries(commit)) {
      const row = [commit.key, facet, value, sort, id, note];
      for (const [at, each] of row.entries()) columns[at]?.push(each);
    }
  }
  return columns;
}
