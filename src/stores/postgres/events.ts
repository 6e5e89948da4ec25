import type { StoredEvent } from "../../protocol/index.ts";
import { toEvent } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const FIRST = "select body from countersign.events where session = $1 and seq > $2 order by seq limit $3";
const LAST = "select body from countersign.events where session = $1 and seq > $2 order by seq desc limit $3";

const BEFORE_ALL = -1;

export async function readEvents(
  database: Database,
  session: string,
  range: { readonly after?: number; readonly limit?: number; readonly last?: number },
): Promise<readonly StoredEvent[]> {
  const after = range.after ?? BEFORE_ALL;
  // `limit null` is "all of them".
  if (range.last === undefined)
    return (await database.all(FIRST, [session, after, range.limit ?? null], { shared: true })).map(toEvent);
  const limit = Math.min(range.last, range.limit ?? range.last);
  return (await database.all(LAST, [session, after, limit], { shared: true })).map(toEvent).reverse();
}
