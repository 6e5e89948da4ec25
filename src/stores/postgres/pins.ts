import type { Database } from "./database.ts";

const PIN = "insert into countersign.meta (name, value) values ($1, $2) on conflict (name) do nothing";
const PINNED = "select value from countersign.meta where name = $1";

// Apart from what the store itself keeps in the same table.
const PREFIX = "pin:";

/** The value that the name has from now on: the given one, unless it has one. */
export async function pinValue(database: Database, name: string, value: string): Promise<string> {
  await database.run(PIN, [PREFIX + name, value]);
  return (await database.get(PINNED, [PREFIX + name]))?.[0] as string;
}
