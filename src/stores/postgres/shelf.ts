import type { Page, PageRequest, StoredItem } from "../../engine/index.ts";
import type { JsonValue } from "../../protocol/index.ts";
import type { Row } from "../sql/row.ts";
import { fromJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { NOW } from "./now.ts";
import { readPage } from "./read-page.ts";

const COLUMNS = "kind, id, value, version, expires_at";
const ALIVE = `(s.expires_at is null or s.expires_at > ${NOW})`;
const ONE = `select ${COLUMNS} from countersign.shelf s where kind = $1 and id = $2 and ${ALIVE}`;
const ALL = `select ${COLUMNS} from countersign.shelf s where kind = $1 and id > $2 and ${ALIVE} order by id limit $3`;
// What has expired is as good as not there, so a new item may take its place.
const FIRST = `
  insert into countersign.shelf as s (kind, id, value, version, expires_at) values ($1, $2, $3, 1, $4)
  on conflict (kind, id) do update set value = excluded.value, version = 1, expires_at = excluded.expires_at
  where not ${ALIVE}`;
const NEXT = `
  update countersign.shelf s set value = $3, version = version + 1, expires_at = $4
  where kind = $1 and id = $2 and version = $5 and ${ALIVE}`;
const DISCARD = `delete from countersign.shelf s where kind = $1 and id = $2 and version = $3 and ${ALIVE}`;
const DROP_EXPIRED = `delete from countersign.shelf where expires_at <= ${NOW}`;

export async function readKept(
  database: Database,
  { kind, id }: { readonly kind: string; readonly id: string },
): Promise<StoredItem | undefined> {
  const row = await database.get(ONE, [kind, id]);
  return row && toKeptItem(row);
}

export function listKept(
  database: Database,
  kind: string,
  request: PageRequest | undefined,
): Promise<Page<StoredItem>> {
  return readPage({ request, start: [""], item: toKeptItem, position: ({ id }) => [id] }, (after, limit) =>
    database.all(ALL, [kind, ...after, limit]),
  );
}

export async function keepItem(
  database: Database,
  {
    kind,
    id,
    value,
    expiresAt = null,
  }: Omit<StoredItem, "version" | "expiresAt"> & { readonly expiresAt?: number | null },
  read: number,
): Promise<boolean> {
  const given = [kind, id, JSON.stringify(value), expiresAt];
  const written = read === 0 ? await database.run(FIRST, given) : await database.run(NEXT, [...given, read]);
  return written > 0;
}

export async function discardItem(
  database: Database,
  { kind, id, version }: Pick<StoredItem, "kind" | "id" | "version">,
): Promise<boolean> {
  return (await database.run(DISCARD, [kind, id, version])) > 0;
}

export async function dropExpiredItems(database: Database): Promise<void> {
  await database.run(DROP_EXPIRED);
}

function toKeptItem([kind, id, value, version, expiresAt]: Row): StoredItem {
  return {
    kind: kind as string,
    id: id as string,
    value: fromJson(value) as JsonValue,
    version: version as number,
    ...(expiresAt === null ? {} : { expiresAt: expiresAt as number }),
  };
}
