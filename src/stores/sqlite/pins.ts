import type { Database } from "./database.ts";

const PIN = "insert into meta (name, value) values (?, ?) on conflict (name) do nothing";
const PINNED = "select value from meta where name = ?";

// Apart from what the store itself keeps in the same table.
const PREFIX = "pin:";

/** The value that the name has from now on: the given one, unless it has one. */
export function pinValue(database: Database, name: string, value: string): string {
  database.run(PIN, [PREFIX + name, value]);
  return database.get(PINNED, [PREFIX + name])?.[0] as string;
}
