import {
  type CommitOutcome,
  type Entry,
  eraseArchive,
  type StoreChange,
  type StoreCommit,
} from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import type { Database } from "../sqlite/database.ts";

type Conflict = Extract<CommitOutcome, { ok: false }>["conflict"];

const CREATE =
  "insert into documents (key, app, user, id, version, head, updated_at, deleted, body) values (?, ?, ?, ?, 1, ?, ?, ?, ?) on conflict do nothing";
const MOVE =
  "update documents set version = version + 1, head = ?, updated_at = ?, deleted = ?, body = ? where key = ? and version = ?";
const VERSION = "select version, head from documents where key = ?";
const LEASE = "select 1 from owners where id = ? and fenced = 0 and lease_until > ?";
const LOG =
  "insert into log (session, n, at, kinds, digest, hash, events, body, archived) values (?, ?, ?, ?, ?, ?, ?, ?, ?)";
const ADD =
  "insert into entries (facet, value, sort, id, note) values (?, ?, ?, ?, ?) on conflict do update set note = excluded.note";
const REMOVE = "delete from entries where facet = ? and value = ? and sort = ? and id = ?";
const ITEM = "select value, version, expires_at from items where kind = ? and id = ?";
const KEEP =
  "insert into items (kind, id, value, version, expires_at) values (?, ?, ?, ?, ?) " +
  "on conflict do update set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at";
const DISCARD = "delete from items where kind = ? and id = ?";
const ERASE_BODIES = "update log set body = null where session = ? and body is not null";
const ARCHIVES = "select seq, archived from log where session = ? and archived is not null";
const SET_ARCHIVE = "update log set archived = ? where seq = ?";
const ERASE_STATE = "delete from items where kind = 'state of session' and id = ?";

/** Writes one commit inside the caller's transaction. A refused one has written nothing. */
export function writeCommit(database: Database, commit: StoreCommit, now: number): CommitOutcome {
  const conflict = refusal(database, commit, now) ?? moveDocument(database, commit);
  if (conflict !== undefined) return { ok: false, conflict };
  const { key, log } = commit;
  if (commit.erase === true) eraseLog(database, key);
  database.run(LOG, [
    log.session,
    log.n,
    log.at,
    log.kinds.length === 0 ? "" : JSON.stringify(log.kinds),
    log.digest,
    log.hash,
    log.events,
    log.body,
    log.archived === undefined ? null : JSON.stringify(log.archived),
  ]);
  writeChange(database, commit, now);
  return { ok: true };
}

/** False where an item is not in the version that was read; then nothing was written. */
export function changeItems(database: Database, change: StoreChange, now: number): boolean {
  if (!areCurrent(database, change, now)) return false;
  writeChange(database, change, now);
  return true;
}

/** Version first: what else would be refused means something only for the session as it was read. */
function refusal(database: Database, commit: StoreCommit, now: number): Conflict | undefined {
  const { owner, before, from, items } = commit;
  const early = from !== undefined && now < from;
  const late = before !== undefined && now >= before;
  const lost = owner !== undefined && database.get(LEASE, [owner, now]) === undefined;
  const changed = items.length > 0 && !areCurrent(database, commit, now);
  if (!early && !late && !lost && !changed) return undefined;
  const [version = 0] = database.get(VERSION, [commit.key]) ?? [];
  if (version !== commit.version) return "version";
  return lost ? "owner" : changed ? "row" : "deadline";
}

function moveDocument(database: Database, commit: StoreCommit): Conflict | undefined {
  const { key, version, create, document, log } = commit;
  const { updatedAt, deletedAt } = document.head;
  const body = JSON.stringify(document);
  const rest = [log.hash, updatedAt, Number(deletedAt !== undefined), body];
  const written =
    create === undefined
      ? database.run(MOVE, [...rest, key, version])
      : database.run(CREATE, [key, create.app, create.user, create.id, ...rest]);
  return written === 1 ? undefined : "version";
}

function areCurrent(database: Database, { items }: StoreChange, now: number): boolean {
  return items.every(
    ({ kind, id, read }) =>
      read === undefined || (itemOf(database, { kind, id }, now)?.version ?? 0) === read,
  );
}

function itemOf(
  database: Database,
  { kind, id }: { readonly kind: string; readonly id: string },
  now: number,
): { readonly value: string; readonly version: number } | undefined {
  const row = database.get(ITEM, [kind, id]);
  if (row === undefined) return undefined;
  const [value, version, expiresAt] = row;
  const expired = expiresAt !== null && (expiresAt as number) <= now;
  return expired ? undefined : { value: value as string, version: version as number };
}

function writeChange(database: Database, { items, add = [], remove = [] }: StoreChange, now: number): void {
  for (const { facet, value, sort, id } of remove) database.run(REMOVE, [facet, value, sort, id]);
  for (const entry of add) addEntry(database, entry);
  for (const { kind, id, value, expiresAt = null, read } of items) {
    if (value === undefined) {
      database.run(DISCARD, [kind, id]);
      continue;
    }
    const known = itemOf(database, { kind, id }, now);
    const merged =
      read === undefined
        ? { ...(JSON.parse(known?.value ?? "{}") as JsonObject), ...(value as JsonObject) }
        : value;
    database.run(KEEP, [kind, id, JSON.stringify(merged), (known?.version ?? 0) + 1, expiresAt]);
  }
}

function addEntry(database: Database, { facet, value, sort, id, note }: Entry): void {
  database.run(ADD, [facet, value, sort, id, note ?? null]);
}

function eraseLog(database: Database, session: string): void {
  database.run(ERASE_BODIES, [session]);
  for (const [seq, archived] of database.all(ARCHIVES, [session])) {
    const erased = eraseArchive(JSON.parse(archived as string));
    database.run(SET_ARCHIVE, [JSON.stringify(erased), seq as number]);
  }
  database.run(ERASE_STATE, [session]);
}
