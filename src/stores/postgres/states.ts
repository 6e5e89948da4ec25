import type { JsonObject } from "../../protocol/index.ts";
import { fromJson } from "../sql/rows.ts";
import type { Database } from "./database.ts";

// The narrower scope comes later, and so wins.
const STATES = `
  select t.name, t.value from countersign.sessions s join countersign.states t on
    (t.scope, t.app, t."user", t.session) in (('app', s.app, '', ''), ('user', s.app, s."user", ''), ('session', '', '', s.key))
  where s.key = $1 order by case t.scope when 'app' then 0 when 'user' then 1 else 2 end, t.name`;

/** Keys stand as they were written, prefix included. */
export async function readState(database: Database, session: string): Promise<JsonObject> {
  const rows = await database.all(STATES, [session], { shared: true });
  // As text: a key called `__proto__` is data.
  return fromJson(
    `{${rows.map(([name, value]) => `${String(name)}:${String(value)}`).join()}}`,
  ) as JsonObject;
}
