import type { StoredItem } from "../../engine/index.ts";
import type { Database } from "./connection/database.ts";
import type { Row } from "./connection/driver.ts";

const SELECT = "select kind, id, value, version, expires_at from items where kind = ?";
const ALIVE = "(expires_at is null or expires_at > ?)";
const ONE = `${SELECT} and id = ? and ${ALIVE}`;
const OF_KIND = `${SELECT} and id > ? and ${ALIVE} order by id limit ?`;
const AT_ONCE = 1_000;
const DROP_EXPIRED = `delete from items where place in (select place from items where expires_at <= ? limit ${AT_ONCE})`;

export function readItems(
  database: Database,
  keys: readonly { readonly kind: string; readonly id: string }[],
  now: number,
): readonly StoredItem[] {
  return keys.flatMap(({ kind, id }) => database.all(ONE, [kind, id, now]).map(toItem));
}

export function listItems(
  database: Database,
  { kind, after, limit }: { readonly kind: string; readonly after: string; readonly limit: number },
  now: number,
): readonly StoredItem[] {
  return database.all(OF_KIND, [kind, after, now, limit]).map(toItem);
}

/** Removes some expired items; true if there may be more. */
export function dropExpiredItems(database: Database, now: number): boolean {
  return database.run(DROP_EXPIRED, [now]) === AT_ONCE;
}

function toItem([kind, id, value, version, expiresAt]: Row): StoredItem {
  return {
    kind: kind as string,
    id: id as string,
    value: JSON.parse(value as string) as StoredItem["value"],
    version: version as number,
    ...(expiresAt === null ? {} : { expiresAt: expiresAt as number }),
  };
}
