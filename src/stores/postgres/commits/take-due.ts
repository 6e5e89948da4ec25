import type { Store, StoredItem } from "../../../engine/index.ts";
import type { Database } from "../connection/index.ts";
import { newChangeId } from "./change-id.ts";
import { SYNCED } from "./commit-statement.ts";
import { fromParts } from "./item-value.ts";

/** The place of a member's value. Both members are written before any text of a stranger's, so the first is the name. */
const at = (name: string): string => `array_position(k.value, '"${name}"') + 1`;

/**
 * The entries are locked first, then their items; it does not wait for a transaction that locks both the other way round, so that
 * nobody waits for each other. An item is changed only with its entry, so the one that was locked leads to the other as
 * it is. The clock is looked at once: entry and item must say the same time.
 */
const TAKE = `
with clock as materialized (select countersign.now_ms() as now),
due as materialized (
  select e.sort, e.id from countersign.entries e
  where e.facet = $1 and e.value = $2 and e.sort <= (select now from clock)
  order by e.sort, e.id limit $3 for update skip locked
),
free as materialized (
  select k.id from countersign.items k where k.kind = $1 and k.id = any (array (select id from due)) for update skip locked
),
moved as (
  update countersign.entries e set sort = (select now from clock) + $4::bigint
  from (select * from due where id = any (array (select id from free))) d
  where e.facet = $1 and e.value = $2 and e.sort = d.sort and e.id = d.id
  returning e.id, d.sort
),
held as (
  update countersign.items k set version = k.version + 1, change_id = $5::bigint,
    value[${at("attempt")}] = (k.value[${at("attempt")}]::bigint + 1)::text,
    value[${at("nextAt")}] = ((select now from clock) + $4::bigint)::text
  where k.kind = $1 and k.id = any (array (select id from moved))
  returning k.id, k.value, k.version
)
select clock.now, held.id, array_to_json(held.value), held.version, (select ${SYNCED})
from clock left join (held join moved on moved.id = held.id) on true order by moved.sort, held.id`;

/** What this takes and cannot be told, because the answer is lost, is due again when its hold ends. */
export async function takeDue(
  database: Database,
  { kind, value, limit, holdMs }: Parameters<Store["takeDue"]>[0],
): Promise<{ readonly now?: number; readonly taken: readonly StoredItem[] }> {
  const rows = await database.all(TAKE, [kind, value, limit, Math.ceil(holdMs), newChangeId()]);
  return {
    now: rows[0]?.[0] as number,
    taken: rows.flatMap(([, id, parts, version]) =>
      id === null
        ? []
        : [{ kind, id: id as string, value: fromParts(parts as string), version: version as number }],
    ),
  };
}
