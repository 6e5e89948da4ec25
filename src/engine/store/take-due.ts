import type { JsonObject } from "../../protocol/index.ts";
import type { StoredItem } from "../ledger/index.ts";
import type { Entry, StoreChange } from "./store.ts";

/**
 * A queue of items. Its entries have the items' kind as facet, the items' ids, and as `sort` when the item is due. An
 * item's value says the same time as `nextAt`, and how often it was taken as `attempt`.
 */
export interface DueQueue {
  readonly kind: string;
  /** The value of its entries. */
  readonly value: string;
}

/** How many to take, and for how long. */
export interface DueTake extends DueQueue {
  readonly limit: number;
  readonly holdMs: number;
}

/** What taking these items changes, and the items as they are then: for stores that do it in one step of their own. */
export function takeItems(
  items: readonly StoredItem[],
  { kind, value: queue, holdMs }: DueTake,
  now: number,
): { readonly change: StoreChange; readonly taken: readonly StoredItem[] } {
  const nextAt = Math.ceil(now + holdMs);
  const taken = items.map((item) => {
    const value = item.value as JsonObject;
    return {
      ...item,
      version: item.version + 1,
      value: { ...value, attempt: Number(value["attempt"]) + 1, nextAt },
    };
  });
  const entry = (id: string, sort: number): Entry => ({ facet: kind, value: queue, sort, id });
  return {
    taken,
    change: {
      items: taken.map(({ id, value, version }) => ({ kind, id, value, read: version - 1 })),
      remove: items.map(({ id, value }) => entry(id, Number((value as JsonObject)["nextAt"]))),
      add: taken.map(({ id }) => entry(id, nextAt)),
    },
  };
}
