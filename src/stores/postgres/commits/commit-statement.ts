import { documentText, type StoreCommit } from "../../../engine/index.ts";
import type { PostgresValue } from "../connection/index.ts";
import { NOW } from "../now.ts";
import {
  ARE_CHECKED,
  ARE_ITEMS_KEPT,
  addEntries,
  checkParameter,
  entryParameter,
  entryRows,
  givenChecks,
  givenItems,
  IS_DONE,
  IS_SUSPENDED,
  isChanged,
  isStale,
  itemParameter,
  KEEP_ITEMS,
  LOCK_CHECKED,
  removeEntries,
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

/** What the parts of a statement are for. A part that nothing needs is left out: the server would prepare to do it each time. */
interface Shape {
  readonly sync: boolean;
  /** Some commit creates its session. */
  readonly makes: boolean;
  /** Some commit has a deadline. */
  readonly timed: boolean;
  readonly owned: boolean;
  readonly adds: boolean;
  readonly removes: boolean;
  readonly items: boolean;
  readonly checks: boolean;
  readonly wants: boolean;
  readonly erased: boolean;
}

/** The parts that have a parameter, in this order behind that of the commits. */
const PARAMETERS = [
  "owned",
  "adds",
  "removes",
  "items",
  "checks",
  "wants",
  "erased",
] as const satisfies (keyof Shape)[];
type Parameter = (typeof PARAMETERS)[number];

function numbersOf(shape: Shape): Readonly<Record<Parameter, number>> {
  const present: readonly Parameter[] = PARAMETERS.filter((part) => shape[part]);
  const numbers = PARAMETERS.map((part) => [part, present.indexOf(part) + 2] as const);
  return Object.fromEntries(numbers) as Record<Parameter, number>;
}

/**
 * Any number of commits of different sessions as one statement. Each is judged alone; those that are not answered were
 * refused, and have written nothing. All parts look at the ledger as it was when the statement began, which is enough:
 * whatever belongs to a session changes only with its version. What may change during a wait for a lock (a lease, a
 * deadline, an item) is looked at again when everything is written, and raises an error that undoes all of them.
 */
const textOf = (shape: Shape): string => {
  const { sync, makes, timed, owned, adds, removes, items, checks, wants, erased } = shape;
  const at = numbersOf(shape);
  const guards = [
    ...(timed ? [IN_TIME] : []),
    ...(owned ? [HAS_OWNER] : []),
    ...(items ? [`not ${isStale("c.place")}`] : []),
    ...(checks ? [`not ${isChanged("c.place")}`] : []),
  ];
  const judged = guards.map((guard) => ` and ${guard}`).join("");
  // Before a place in the log is taken: of two commits that depend on one item, the log has the earlier one first.
  const locked = [...(items ? ["next"] : []), ...(checks ? ["checked"] : [])];
  const seq = locked.reduce(
    (then, name) => `case when (select count(*) from ${name}) >= 0 then ${then} end`,
    PLACE,
  );
  return `
with c as (select * from ${given(COLUMNS, 1, "c")}),
${when(owned, `${ALIVE(at.owned)},`)}
${when(items, `${givenItems(at.items)},`)}
${when(checks, `${givenChecks(at.checks)},`)}
moved as (
  update countersign.documents d
  set version = d.version + 1, head = c.hash, updated_at = c.updated_at, deleted = c.deleted, body = c.document
  from c where d.key = c.key and d.version = c.version and (c.head is null or d.head = c.head)
    and (c.changed_at is null or d.updated_at = c.changed_at)${judged}
  returning c.place
),
${when(makes, `${MADE(judged)},`)}
done as (
  select place from moved${when(makes, " union all select place from c where version = 0 and key = any (array (select key from made))")}
),
${when(erased, ERASE(at.erased))}
${when(items, `${KEEP_ITEMS},`)}
${when(checks, `${LOCK_CHECKED},`)}
logged as (
  insert into countersign.log (seq, session, n, at, kinds, digest, hash, events, commit_id, body, archived)
  select ${seq},
    c.key, c.version + 1, c.at, c.kinds, c.digest, c.hash, c.events, c.commit_id, c.body, c.archived
  from c where ${IS_DONE}
)${when(removes, `,${removeEntries(at.removes)}`)}${when(adds, `,${addEntries(at.adds)}`)}
select done.place, (select ${sync ? SYNCED : UNSYNCED})${when(wants, `, (${wantedItems(at.wants, "done.place")})`)} from done where (select case
  when (select count(*) from done) = 0 then true
  ${when(items, `when not (${ARE_ITEMS_KEPT}) then countersign.refuse()`)}
  ${when(checks, `when not (${ARE_CHECKED}) then countersign.refuse()`)}
  ${when(owned, `when ${LEASE_IS_OVER} then countersign.refuse()`)}
  ${when(timed, `when exists (select 1 from c where ${IS_DONE} and c.before <= ${NOW}) then countersign.refuse()`)}
  else true end)`;
};

const ALIVE = (parameter: number): string => `
alive as (
  select o.id from countersign.owners o
  where o.id = any ($${parameter}::text[]) and ${HOLDS} and countersign.may_claim(o.history, ${NOW})
    and not ${IS_SUSPENDED}
)`;
const LEASE_IS_OVER =
  "exists (select 1 from alive a where not exists " +
  `(select 1 from countersign.owners o where o.id = a.id and ${HOLDS}))`;

const MADE = (judged: string): string => `
made as (
  insert into countersign.documents (key, app, "user", id, version, head, updated_at, deleted, body)
  select c.key, c.app, c.usr, c.name, 1, c.hash, c.updated_at, c.deleted, c.document from c
  where c.version = 0${judged}
  on conflict do nothing returning key
)`;

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
  const changes = group.map(({ id, commit }, place) => ({ place, id, change: commit }));
  const checks = group.map(({ commit }) => commit.checks ?? []);
  const wants = group.map(wantsOf);
  const owners = new Set(group.flatMap(({ commit: { owner } }) => (owner === undefined ? [] : [owner])));
  const { added, removed } = entryRows(changes);
  const [{ erased }] = group as [Sent];
  // Commits that go together have most parts among them: one statement for all of these is prepared only once.
  const isGroup = group.length > 1;
  const isSome = (is: (commit: StoreCommit) => boolean): boolean => group.some(({ commit }) => is(commit));
  const shape: Shape = {
    sync,
    makes: isGroup || isSome(({ version }) => version === 0),
    timed: isGroup || isSome(({ before, from }) => before !== undefined || from !== undefined),
    owned: isGroup || owners.size > 0,
    adds: isGroup || added.length > 0,
    removes: isGroup || removed.length > 0,
    items: isSome(({ items }) => items.length > 0),
    checks: checks.some(({ length }) => length > 0),
    wants: wants.some(({ length }) => length > 0),
    erased: erased !== undefined,
  };
  const values: Readonly<Record<Parameter, () => PostgresValue>> = {
    owned: () => [...owners],
    adds: () => entryParameter(added),
    removes: () => entryParameter(removed),
    items: () => itemParameter(changes),
    checks: () => checkParameter(checks),
    wants: () => wantedParameter(wants),
    erased: () => erasedParameter(erased ?? []),
  };
  const name = JSON.stringify(shape);
  const text = TEXTS.get(name) ?? textOf(shape);
  TEXTS.set(name, text);
  const parts = PARAMETERS.filter((part) => shape[part]);
  return { text, values: [toParameter(COLUMNS, group.map(rowOf)), ...parts.map((part) => values[part]())] };
}

/** What is read with a commit. What it writes itself would not be seen. */
export function wantsOf({ commit: { items, wants = [] } }: Sent): NonNullable<StoreCommit["wants"]> {
  return items.length > 0 ? [] : wants;
}

function erasedParameter(erased: readonly (string | null)[]): PostgresValue {
  return toParameter(
    ERASED_COLUMNS,
    erased.map((archived, at) => [at + 1, archived]),
  );
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
