import type { Page, PageRequest, StoredItem } from "../../engine/index.ts";
import type { JsonValue } from "../../protocol/index.ts";
import { type Paging, readPage } from "../sql/pages.ts";
import type { Row } from "../sql/row.ts";
import type { Database } from "./database.ts";

const COLUMNS = "kind, id, value, version, expires_at";
const ALIVE = "(expires_at is null or expires_at > ?)";
const ONE = `select ${COLUMNS} from shelf where kind = ? and id = ? and ${ALIVE}`;
const ALL = `select ${COLUMNS} from shelf where kind = ? and id > ? and ${ALIVE} order by id limit ?`;
// What has expired is as good as not there, so a new item may take its place.
const FIRST = `
  insert into shelf (kind, id, value, version, expires_at) values (?1, ?2, ?3, 1, ?4)
  on conflict (kind, id) do update set value = ?3, version = 1, expires_at = ?4
  where not (expires_at is null or expires_at > ?5)`;
const NEXT = `
  update shelf set value = ?3, version = version + 1, expires_at = ?4
  where kind = ?1 and id = ?2 and version = ?6 and (expires_at is null or expires_at > ?5)`;
const DISCARD = `delete from shelf where kind = ? and id = ? and version = ? and ${ALIVE}`;
const DROP_EXPIRED = "delete from shelf where expires_at <= ?";

export function readKept(
  database: Database,
  { kind, id }: { readonly kind: string; readonly id: string },
  now: number,
): StoredItem | undefined {
  const row = database.get(ONE, [kind, id, now]);
  return row && toKeptItem(row);
}

export function listKept(
  database: Database,
  { kind, request }: { readonly kind: string; readonly request: PageRequest | undefined },
  now: number,
): Page<StoredItem> {
  const paging: Paging<StoredItem> = { request, start: [""], item: toKeptItem, position: ({ id }) => [id] };
  return readPage(paging, (after, limit) => database.all(ALL, [kind, ...after, now, limit]));
}

export function keepItem(
  database: Database,
  { item, read }: { readonly item: Omit<StoredItem, "version">; readonly read: number },
  now: number,
): boolean {
  const { kind, id, value, expiresAt = null } = item;
  const given = [kind, id, JSON.stringify(value), expiresAt, now];
  const written = read === 0 ? database.run(FIRST, given) : database.run(NEXT, [...given, read]);
  return written > 0;
}

export function discardItem(
  database: Database,
  { kind, id, version }: Pick<StoredItem, "kind" | "id" | "version">,
  now: number,
): boolean {
  return database.run(DISCARD, [kind, id, version, now]) > 0;
}

export function dropExpiredItems(database: Database, now: number): void {
  database.run(DROP_EXPIRED, [now]);
}

function toKeptItem([kind, id, value, version, expiresAt]: Row): StoredItem {
  return {
    kind: kind as string,
    id: id as string,
    value: JSON.parse(value as string) as JsonValue,
    version: version as number,
    ...(expiresAt === null ? {} : { expiresAt: expiresAt as number }),
  };
}
