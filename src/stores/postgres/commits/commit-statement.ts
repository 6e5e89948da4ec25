import { documentText, type StoreCommit } from "../../../engine/index.ts";
import type { PostgresValue } from "../connection/index.ts";
import { NOW } from "../now.ts";
import {
  ARE_CHECKED,
  ARE_ITEMS_KEPT,
  checkParameter,
  ENTRY_PARAMETERS,
  entryParameters,
  givenChecks,
  givenItems,
  IS_DONE,
  IS_SUSPENDED,
  isChanged,
  isStale,
  itemParameter,
  KEEP_ITEMS,
  keepEntries,
  LOCK_CHECKED,
  wantedItems,
  wantedParameter,
} from "./change-parts.ts";
import { type Columns, type Given, given, toParameter } from "./given.ts";

/** A commit and the id under which it is sent, so that it is known afterwards whether it was done. */
export interface Sent {
  readonly id: string;
  readonly commit: StoreCommit;
  /** For a commit that erases: what is left of each log row's archive, by `n` from 1. */
  readonly erased?: readonly (string | null)[];
}

export interface Statement {
  readonly text: string;
  readonly values: readonly PostgresValue[];
}

const COLUMNS: Columns = [
  ["place", "integer"],
  ["key", "text"],
  ["version", "bigint"],
  ["head", "text"],
  ["changed_at", "bigint"],
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
];
const OWNERS_AT = 2;
const ENTRIES_AT = OWNERS_AT + 1;
const ITEMS_AT = ENTRIES_AT + ENTRY_PARAMETERS;
const ERASED_COLUMNS: Columns = [
  ["n", "bigint"],
  ["archived", "text"],
];

const HOLDS = `o.fenced = 0 and o.lease_until > ${NOW}`;
const IN_TIME = `(c.before is null or ${NOW} < c.before) and (c.since is null or ${NOW} >= c.since)`;
const HAS_OWNER = "(c.owner is null or c.owner in (select id from alive))";

export const UNSYNCED = "set_config('synchronous_commit', 'off', true)";
export const SYNCED =
  "case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', true) end";

const PLACE = "case when (select countersign.hold_place()) then nextval('countersign.log_seq') end";

interface Shape {
  readonly sync: boolean;
  readonly items: boolean;
  readonly checks: boolean;
  readonly wants: boolean;
  readonly erased: boolean;
}

/**
 * Any number of commits of different sessions as one statement. Each is judged alone; those that are not answered were
 * refused, and have written nothing. All parts look at the ledger as it was when the statement began, which is enough:
 * whatever belongs to a session changes only with its version. What may change during a wait for a lock (a lease, a
 * deadline, an item) is looked at again when everything is written, and raises an error that undoes all of them.
 */
const textOf = ({ sync, items, checks, wants, erased }: Shape): string => {
  const stale = when(items, ` and not ${isStale("c.place")}`);
  const changed = when(checks, ` and not ${isChanged("c.place")}`);
  const judged = `${IN_TIME} and ${HAS_OWNER}${stale}${changed}`;
  // Before a place in the log is taken: of two commits that depend on one item, the log has the earlier one first.
  const locked = [...(items ? ["next"] : []), ...(checks ? ["checked"] : [])];
  const seq = locked.reduce(
    (then, name) => `case when (select count(*) from ${name}) >= 0 then ${then} end`,
    PLACE,
  );
  const checksAt = ITEMS_AT + Number(items);
  const wantsAt = checksAt + Number(checks);
  const erasedAt = wantsAt + Number(wants);
  return `
with c as (select * from ${given(COLUMNS, 1, "c")}),
alive as (
  select o.id from countersign.owners o
  where o.id = any ($${OWNERS_AT}::text[]) and ${HOLDS} and countersign.may_claim(o.history, ${NOW})
    and not ${IS_SUSPENDED}
),
${when(items, `${givenItems(ITEMS_AT)},`)}
${when(checks, `${givenChecks(checksAt)},`)}
moved as (
  update countersign.documents d
  set version = d.version + 1, head = c.hash, updated_at = c.updated_at, deleted = c.deleted, body = c.document
  from c where d.key = c.key and d.version = c.version and (c.head is null or d.head = c.head)
    and (c.changed_at is null or d.updated_at = c.changed_at) and ${judged}
  returning c.place
),
made as (
  insert into countersign.documents (key, app, "user", id, version, head, updated_at, deleted, body)
  select c.key, c.app, c.usr, c.name, 1, c.hash, c.updated_at, c.deleted, c.document from c
  where c.version = 0 and ${judged}
  on conflict do nothing returning key
),
done as (
  select place from moved union all
  select place from c where version = 0 and key = any (array (select key from made))
),
${when(erased, ERASE(erasedAt))}
${when(items, `${KEEP_ITEMS},`)}
${when(checks, `${LOCK_CHECKED},`)}
logged as (
  insert into countersign.log (seq, session, n, at, kinds, digest, hash, events, commit_id, body, archived)
  select ${seq},
    c.key, c.version + 1, c.at, c.kinds, c.digest, c.hash, c.events, c.commit_id, c.body, c.archived
  from c where ${IS_DONE}
),
${keepEntries(ENTRIES_AT)}
select done.place, (select ${sync ? SYNCED : UNSYNCED})${when(wants, `, (${wantedItems(wantsAt, "done.place")})`)} from done where (select case
  when (select count(*) from done) = 0 then true
  ${when(items, `when not (${ARE_ITEMS_KEPT}) then countersign.refuse()`)}
  ${when(checks, `when not (${ARE_CHECKED}) then countersign.refuse()`)}
  when exists (select 1 from alive a where not exists (select 1 from countersign.owners o where o.id = a.id and ${HOLDS}))
    then countersign.refuse()
  when exists (select 1 from c where ${IS_DONE} and c.before <= ${NOW}) then countersign.refuse()
  else true end)`;
};

function when(isSo: boolean, text: string): string {
  return isSo ? text : "";
}

const ERASE = (first: number): string => `
erased as (
  update countersign.log l set body = null, archived = e.archived
  from ${given(ERASED_COLUMNS, first, "e")}, c where ${IS_DONE} and l.session = c.key and l.n = e.n
),`;

const TEXTS = new Map<string, string>();

export function commitStatement(group: readonly Sent[], sync: boolean): Statement {
  const items = group.some(({ commit }) => commit.items.length > 0);
  const checks = group.map(({ commit }) => commit.checks ?? []);
  const isChecked = checks.some(({ length }) => length > 0);
  const wants = group.map(({ commit }) => commit.wants ?? []);
  const isWanted = wants.some(({ length }) => length > 0);
  const [{ erased }] = group as [Sent];
  const shape = { sync, items, checks: isChecked, wants: isWanted, erased: erased !== undefined };
  const name = JSON.stringify(shape);
  const text = TEXTS.get(name) ?? textOf(shape);
  TEXTS.set(name, text);
  const changes = group.map(({ id, commit }, place) => ({ place, id, change: commit }));
  const owners = new Set(group.flatMap(({ commit: { owner } }) => (owner === undefined ? [] : [owner])));
  return {
    text,
    values: [
      toParameter(COLUMNS, group.map(rowOf)),
      [...owners],
      ...entryParameters(changes),
      ...(items ? [itemParameter(changes)] : []),
      ...(isChecked ? [checkParameter(checks)] : []),
      ...(isWanted ? [wantedParameter(wants)] : []),
      ...(erased === undefined
        ? []
        : [
            toParameter(
              ERASED_COLUMNS,
              erased.map((archived, at) => [at + 1, archived]),
            ),
          ]),
    ],
  };
}

function rowOf({ id, commit }: Sent, place: number): Given {
  const { key, version, head, changedAt, create, document, log, archived, owner, before, from } = commit;
  const { updatedAt, deletedAt } = document.head;
  return [
    place,
    key,
    version,
    head,
    changedAt,
    create?.app,
    create?.user,
    create?.id,
    log.hash,
    updatedAt,
    deletedAt !== undefined,
    documentText(key, document),
    owner,
    before,
    from,
    id,
    log.at,
    log.kinds.length === 0 ? "" : JSON.stringify(log.kinds),
    log.digest,
    log.events,
    log.body,
    archived && JSON.stringify(archived),
  ];
}
