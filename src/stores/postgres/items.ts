import type { ItemKey, StoredItem } from "../../engine/index.ts";
import { toItem } from "./commits/index.ts";
import { type Database, hasNul } from "./connection/index.ts";
import { NOW } from "./now.ts";

const COLUMNS = "k.kind, k.id, array_to_json(k.value), k.version, k.expires_at";
const ALIVE = `(k.expires_at is null or k.expires_at > ${NOW})`;
const ITEMS =
  `select ${COLUMNS}, ${NOW} from unnest($1::text[], $2::text[]) with ordinality wanted (kind, id, place) ` +
  `left join countersign.items k on k.kind = wanted.kind and k.id = wanted.id and ${ALIVE} order by wanted.place`;
const ITEMS_OF = `select ${COLUMNS} from countersign.items k where k.kind = $1 and k.id > $2 and ${ALIVE} order by k.id limit $3`;
const AT_ONCE = 1_000;
const DROP_EXPIRED =
  "delete from countersign.items where ctid = any (array (select ctid from countersign.items " +
  `where expires_at <= ${NOW} order by expires_at limit ${AT_ONCE} for update skip locked))`;

export async function readItems(
  database: Database,
  keys: readonly ItemKey[],
): Promise<{ readonly now?: number; readonly found: readonly StoredItem[] }> {
  const wanted = keys.filter(({ id }) => !hasNul(id));
  if (wanted.length === 0) return { found: [] };
  const rows = await database.all(ITEMS, [wanted.map(({ kind }) => kind), wanted.map(({ id }) => id)]);
  return { now: rows[0]?.[5] as number, found: rows.filter(([kind]) => kind !== null).map(toItem) };
}

export async function listItems(
  database: Database,
  kind: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly StoredItem[]> {
  return (await database.all(ITEMS_OF, [kind, after, limit])).map(toItem);
}

export async function dropExpiredItems(database: Database): Promise<void> {
  // Each in its own transaction: nobody waits long, and a statement that takes too long is cancelled.
  while ((await database.run(DROP_EXPIRED)) === AT_ONCE);
}
