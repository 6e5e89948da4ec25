import { type Store, type StoredItem, takeItems } from "../../../engine/index.ts";
import type { Database } from "../connection/database.ts";
import { readEntries } from "../entries.ts";
import { readItems } from "../items.ts";
import { writeChange } from "./write-commit.ts";

/** Inside the caller's transaction, so that nobody comes between what is read and what is written. */
export function takeDue(
  database: Database,
  take: Parameters<Store["takeDue"]>[0],
  now: number,
): readonly StoredItem[] {
  const { kind, value, limit } = take;
  const due = readEntries(database, { facet: kind, value, limit, until: now });
  const items = readItems(
    database,
    due.map(({ id }) => ({ kind, id })),
    now,
  );
  const { change, taken } = takeItems(items, take, now);
  writeChange(database, change, { now });
  return taken;
}
