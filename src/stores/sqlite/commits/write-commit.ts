import {
  type Archive,
  type CommitOutcome,
  documentText,
  eraseArchive,
  type ReadLine,
  type SessionRenaming,
  type StoreChange,
  type StoreCommit,
} from "../../../engine/index.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import type { Database } from "../connection/database.ts";
import type { SqlValue } from "../connection/driver.ts";
import type { KnownDocuments } from "../known-documents.ts";
import { areThere } from "../log.ts";
import { hasLease, isSuspended } from "../owners.ts";

/** An item in one of its versions. */
type ItemVersion = SessionRenaming["guard"];
type Conflict = Extract<CommitOutcome, { ok: false }>["conflict"];

const CREATE =
  "insert into documents (head, updated_at, deleted, body, key, app, user, id, version) " +
  "values (?, ?, ?, ?, ?, ?, ?, ?, 1) on conflict do nothing";
const MOVE =
  "update documents set version = version + 1, head = ?1, updated_at = ?2, deleted = ?3, body = ?4 " +
  "where key = ?5 and version = ?6 and (?7 is null or head = ?7) and (?8 is null or updated_at = ?8)";
const IS_NEW =
  "select 1 where not exists (select 1 from documents where key = ?1) " +
  "and not exists (select 1 from documents where app = ?2 and user = ?3 and id = ?4)";
const IS_AT =
  "select 1 from documents where key = ?1 and version = ?2 and (?3 is null or head = ?3) and (?4 is null or updated_at = ?4)";
const APPEND =
  "insert into log (session, n, at, kinds, digest, hash, events, body, archived) values (?, ?, ?, ?, ?, ?, ?, ?, ?)";
const ADD =
  "insert into entries (facet, value, sort, id, note) values (?, ?, ?, ?, ?) on conflict do update set note = excluded.note";
const REMOVE = "delete from entries where facet = ? and value = ? and sort = ? and id = ?";
const ITEM =
  "select value, version from items where kind = ? and id = ? and (expires_at is null or expires_at > ?)";
const KEEP =
  "insert into items (kind, id, version, expires_at, value) values (?, ?, ?, ?, ?) on conflict (kind, id) " +
  "do update set version = excluded.version, expires_at = excluded.expires_at, value = excluded.value";
const DISCARD = "delete from items where kind = ? and id = ?";
const ERASE_BODIES = "update log set body = null where session = ? and body is not null";
const ARCHIVES = "select seq from log where session = ? and archived is not null";
const ARCHIVE_AT = "select archived from log where seq = ?";
const SET_ARCHIVE = "update log set archived = ? where seq = ?";
const RENAME =
  "update documents set user = ?, body = ?, updated_at = ? where key = ? and version = ? and deleted = 1";
const RENAME_ARCHIVE = "update log set archived = ? where session = ? and n = ?";
const ERASE_STATE = "delete from items where kind = 'state of session' and id = ?";

/** A commit with its long texts made, so that no lock is held meanwhile. */
export interface ReadyCommit {
  readonly commit: StoreCommit;
  readonly document: readonly SqlValue[];
  readonly log: readonly SqlValue[];
}

export function readyCommit(commit: StoreCommit, known: KnownDocuments): ReadyCommit {
  const { document, log, archived } = commit;
  const { updatedAt, deletedAt } = document.head;
  return {
    commit,
    document: [log.hash, updatedAt, Number(deletedAt !== undefined), known.write(commit.key, document)],
    log: [
      log.session,
      log.n,
      log.at,
      log.kinds.length === 0 ? "" : JSON.stringify(log.kinds),
      log.digest,
      log.hash,
      log.events,
      log.body,
      archived === undefined ? null : JSON.stringify(archived),
    ],
  };
}

/** Writes one commit inside the caller's transaction. A refused one has written nothing. */
export function writeCommit(database: Database, ready: ReadyCommit, now: number): CommitOutcome {
  const { commit } = ready;
  const conflict = refusal(database, commit, now) ?? moveDocument(database, ready);
  if (conflict !== undefined) return { ok: false, conflict };
  if (commit.erase === true) eraseLog(database, commit.key);
  database.run(APPEND, ready.log);
  applyChange(database, commit, now);
  return { ok: true };
}

/**
 * Inside the caller's transaction. False if an item does not have the version that was read, or if a line of the log is
 * missing; then nothing was written.
 */
export function writeChange(
  database: Database,
  change: StoreChange,
  { now, upon = [] }: { readonly now: number; readonly upon?: readonly ReadLine[] },
): boolean {
  if (!areCurrent(database, change, now) || !areThere(database, upon)) return false;
  applyChange(database, change, now);
  return true;
}

/** Inside the caller's transaction. False if the session is not erased, or if it or the guard has changed since it was read. */
export function writeRenaming(database: Database, renaming: SessionRenaming, now: number): boolean {
  const { key, version, document, archives, guard, add, remove } = renaming;
  if (!areAsChecked(database, [guard], now)) return false;
  const { user, updatedAt } = document.head;
  const values = [user, documentText(key, document), updatedAt, key, version];
  if (database.run(RENAME, values) !== 1) return false;
  for (const [n, archive] of archives) database.run(RENAME_ARCHIVE, [JSON.stringify(archive), key, n]);
  applyChange(database, { items: [], add, remove }, now);
  return true;
}

/** Version first: what else would be refused means something only for the session as it was read. */
function refusal(database: Database, commit: StoreCommit, now: number): Conflict | undefined {
  const { owner, before, from } = commit;
  const barred = owner === undefined ? undefined : barTo(database, owner, now);
  const late = (before !== undefined && now >= before) || (from !== undefined && now < from);
  const isCurrent = areCurrent(database, commit, now) && areAsChecked(database, commit.checks, now);
  if (barred === undefined && !late && isCurrent) return undefined;
  if (!isAsRead(database, commit)) return "version";
  return barred ?? (late ? "deadline" : "row");
}

/** What forbids this owner to start something. */
function barTo(database: Database, owner: string, now: number): Conflict | undefined {
  if (isSuspended(database)) return "suspended";
  return hasLease(database, owner, now) ? undefined : "owner";
}

function isAsRead(database: Database, { key, version, create, head, changedAt }: StoreCommit): boolean {
  const found =
    create === undefined
      ? database.get(IS_AT, [key, version, head ?? null, changedAt ?? null])
      : database.get(IS_NEW, [key, create.app, create.user, create.id]);
  return found !== undefined;
}

function moveDocument(database: Database, { commit, document }: ReadyCommit): Conflict | undefined {
  const { key, version, create, head, changedAt } = commit;
  const written =
    create === undefined
      ? database.run(MOVE, [...document, key, version, head ?? null, changedAt ?? null])
      : database.run(CREATE, [...document, key, create.app, create.user, create.id]);
  return written === 1 ? undefined : "version";
}

function areCurrent(database: Database, { items }: StoreChange, now: number): boolean {
  return items.every(
    ({ kind, id, read }) => read === undefined || versionOf(database, { kind, id }, now) === read,
  );
}

function areAsChecked(
  database: Database,
  checks: readonly ItemVersion[] | undefined = [],
  now: number,
): boolean {
  return checks.every((item) => versionOf(database, item, now) === item.version);
}

function versionOf(
  database: Database,
  { kind, id }: Pick<ItemVersion, "kind" | "id">,
  now: number,
): SqlValue {
  const [, version = 0] = database.get(ITEM, [kind, id, now]) ?? [];
  return version;
}

function applyChange(database: Database, { items, add = [], remove = [] }: StoreChange, now: number): void {
  for (const { facet, value, sort, id } of remove) database.run(REMOVE, [facet, value, sort, id]);
  for (const { facet, value, sort, id, note } of add)
    database.run(ADD, [facet, value, sort, id, note ?? null]);
  for (const item of items) applyItem(database, item, now);
}

function applyItem(database: Database, item: StoreChange["items"][number], now: number): void {
  const { kind, id, value, expiresAt, read } = item;
  if (value === undefined) {
    database.run(DISCARD, [kind, id]);
    return;
  }
  const [known = "{}", version = 0] = database.get(ITEM, [kind, id, now]) ?? [];
  const merged =
    read === undefined ? { ...(JSON.parse(known as string) as JsonObject), ...(value as JsonObject) } : value;
  database.run(KEEP, [kind, id, (version as number) + 1, expiresAt ?? null, JSON.stringify(merged)]);
}

function eraseLog(database: Database, session: string): void {
  database.run(ERASE_BODIES, [session]);
  // One after the other: together they may be more than fits in memory.
  for (const [seq = null] of database.all(ARCHIVES, [session])) {
    const [archived] = database.get(ARCHIVE_AT, [seq]) ?? [];
    const erased = eraseArchive(JSON.parse(archived as string) as Archive);
    database.run(SET_ARCHIVE, [JSON.stringify(erased), seq]);
  }
  database.run(ERASE_STATE, [session]);
}
