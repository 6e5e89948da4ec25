import {
  type DocumentQuery,
  type LoadedDocument,
  readDocumentText,
  type SessionName,
} from "../../engine/index.ts";
import type { Database } from "./connection/database.ts";
import type { Row } from "./connection/driver.ts";

const SELECT = "select key, app, user, id, version, body from documents";
const BY_KEY = `${SELECT} where key = ?`;
const BY_NAME = `${SELECT} where app = ? and user = ? and id = ?`;
const BY_KEYS =
  "select d.key, d.app, d.user, d.id, d.version, d.body from json_each(?) wanted cross join documents d on d.key = wanted.value order by wanted.key";
const OF_USER = `${SELECT} where app = ? and user = ? and id > ? and deleted = 0 order by id limit ?`;
const OF_APP = `${SELECT} where app = ? and (user, id) > (?, ?) and deleted = 0 order by user, id limit ?`;
const ALL = `${SELECT} where key > ? order by key limit ?`;

export function readDocument(
  database: Database,
  which: { readonly key: string } | { readonly name: SessionName },
  now: number,
): LoadedDocument | undefined {
  const row =
    "key" in which
      ? database.get(BY_KEY, [which.key])
      : database.get(BY_NAME, [which.name.app, which.name.user, which.name.id]);
  return row && toDocument(row, now);
}

export function readDocuments(
  database: Database,
  keys: readonly string[],
  now: number,
): readonly LoadedDocument[] {
  const [only] = keys;
  const rows =
    only !== undefined && keys.length === 1
      ? database.all(BY_KEY, [only])
      : database.all(BY_KEYS, [JSON.stringify(keys)]);
  return rows.map((row) => toDocument(row, now));
}

export function listDocuments(
  database: Database,
  query: DocumentQuery,
  now: number,
): readonly LoadedDocument[] {
  return selectDocuments(database, query).map((row) => toDocument(row, now));
}

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

function toDocument([key, app, user, id, version, body]: Row, now: number): LoadedDocument {
  const name = { app, user, id } as SessionName;
  const document = readDocumentText(key as string, name, body as string);
  return { key: key as string, version: version as number, document, now };
}
