import { type DocumentQuery, erasedUser, type LoadedDocument, type SessionName } from "../../engine/index.ts";
import type { Database } from "./connection/database.ts";
import type { Row } from "./connection/driver.ts";
import { KnownDocuments } from "./known-documents.ts";

const SELECT = "select key, app, user, id, version, body from documents";
const BY_KEY = `${SELECT} where key = ?`;
// Also one whose user was erased since: what ran under that name does not run again.
const BY_NAME = `${SELECT} where app = ? and user in (?, ?) and id = ?`;
const BY_KEYS =
  "select d.key, d.app, d.user, d.id, d.version, d.body from json_each(?) wanted cross join documents d on d.key = wanted.value order by wanted.key";
const OF_USER = `${SELECT} where app = ? and user = ? and id > ? and deleted = 0 order by id limit ?`;
const OF_APP = `${SELECT} where app = ? and (user, id) > (?, ?) and deleted = 0 order by user, id limit ?`;
const ALL = `${SELECT} where key > ? order by key limit ?`;

export function readDocument(
  database: Database,
  which: { readonly key: string } | { readonly name: SessionName },
  {
    now,
    known,
    digestKey,
  }: { readonly now: number; readonly known: KnownDocuments; readonly digestKey: Uint8Array },
): LoadedDocument | undefined {
  const row =
    "key" in which
      ? database.get(BY_KEY, [which.key])
      : database.get(BY_NAME, [
          which.name.app,
          which.name.user,
          erasedUser(digestKey, which.name.user),
          which.name.id,
        ]);
  return row && toDocument(row, now, known);
}

export function readDocuments(
  database: Database,
  keys: readonly string[],
  now: number,
  known: KnownDocuments,
): readonly LoadedDocument[] {
  const [only] = keys;
  const rows =
    only !== undefined && keys.length === 1
      ? database.all(BY_KEY, [only])
      : database.all(BY_KEYS, [JSON.stringify(keys)]);
  return rows.map((row) => toDocument(row, now, known));
}

export function listDocuments(
  database: Database,
  query: DocumentQuery,
  now: number,
): readonly LoadedDocument[] {
  return selectDocuments(database, query).map((row) => toDocument(row, now, KEPT_BY_NOBODY));
}

/** Walks over all documents do not push out those that are worked on. */
const KEPT_BY_NOBODY = new KnownDocuments(0);

function selectDocuments(database: Database, query: DocumentQuery): readonly Row[] {
  if (!("app" in query)) {
    const { afterKey, limit } = query;
    return database.all(ALL, [afterKey, limit]);
  }
  const { app, user, after = [], limit } = query;
  return user === undefined
    ? database.all(OF_APP, [app, after[0] ?? "", after[1] ?? "", limit])
    : database.all(OF_USER, [app, user, after[0] ?? "", limit]);
}

function toDocument(row: Row, now: number, known: KnownDocuments): LoadedDocument {
  const [key, app, user, id, version, body] = row;
  const name = { app, user, id } as SessionName;
  const document = known.read(key as string, name, body as string);
  return { key: key as string, version: version as number, document, now };
}
