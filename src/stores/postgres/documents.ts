import {
  type DocumentQuery,
  erasedUser,
  type LoadedDocument,
  readDocumentText,
  type SessionName,
} from "../../engine/index.ts";
import { type Database, hasNul, type Row } from "./connection/index.ts";
import { NOW } from "./now.ts";

const COLUMNS = `d.key, d.app, d."user", d.id, d.version, d.body, ${NOW}`;
const DOCUMENT = `select ${COLUMNS} from countersign.documents d`;
// The time is told also where nothing is found.
const ONE = `select ${COLUMNS} from (values (1)) one left join countersign.documents d`;
const BY_KEY = `${ONE} on d.key = $1`;
// Also one whose user was erased since: what ran under that name does not run again.
const BY_NAME = `${ONE} on d.app = $1 and d."user" in ($2, $4) and d.id = $3`;
const BY_KEYS =
  `select ${COLUMNS} from unnest($1::text[]) with ordinality wanted (key, place) ` +
  "join countersign.documents d on d.key = wanted.key order by wanted.place";
const OF_USER = `${DOCUMENT} where d.app = $1 and d."user" = $2 and d.id > $3 and not d.deleted order by d.id limit $4`;
const OF_APP =
  `${DOCUMENT} where d.app = $1 and (d."user", d.id) > ($2, $3) and not d.deleted ` +
  'order by d."user", d.id limit $4';
const ALL = `${DOCUMENT} where d.key > $1 order by d.key limit $2`;

export async function readDocument(
  database: Database,
  which: { readonly key: string } | { readonly name: SessionName },
  digestKey: Uint8Array,
): Promise<{ readonly now?: number; readonly found?: LoadedDocument }> {
  const values = "key" in which ? [which.key] : nameValues(which.name, digestKey);
  if (values.some(hasNul)) return {};
  const row = await database.get("key" in which ? BY_KEY : BY_NAME, values, { shared: true });
  if (row === undefined) return {};
  return { now: row[6] as number, ...(row[0] === null ? {} : { found: toDocument(row) }) };
}

function nameValues({ app, user, id }: SessionName, digestKey: Uint8Array): readonly string[] {
  return [app, user, id, erasedUser(digestKey, user)];
}

export async function readDocuments(
  database: Database,
  keys: readonly string[],
): Promise<readonly LoadedDocument[]> {
  const wanted = keys.filter((key) => !hasNul(key));
  return wanted.length === 0 ? [] : (await database.all(BY_KEYS, [wanted])).map(toDocument);
}

export async function listDocuments(
  database: Database,
  query: DocumentQuery,
): Promise<readonly LoadedDocument[]> {
  return (await readRows(database, query)).map(toDocument);
}

function readRows(database: Database, query: DocumentQuery): Promise<readonly Row[]> {
  if (!("app" in query)) {
    const { afterKey, limit } = query;
    return database.all(ALL, [afterKey, limit]);
  }
  const { app, user, after = [], limit } = query;
  return user === undefined
    ? database.all(OF_APP, [app, after[0] ?? "", after[1] ?? "", limit])
    : database.all(OF_USER, [app, user, after[0] ?? "", limit]);
}

function toDocument([key, app, user, id, version, body, now]: Row): LoadedDocument {
  const name = { app, user, id } as SessionName;
  const document = readDocumentText(key as string, name, body as string);
  return { key: key as string, version: version as number, document, now: now as number };
}
