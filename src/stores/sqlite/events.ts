import type { StoredEvent } from "../../protocol/index.ts";
import { toEvent } from "../sql/rows.ts";
import type { Database } from "./database.ts";

const FIRST = "select body from events where session = ? and seq > ? order by seq limit ?";
const LAST = "select body from events where session = ? and seq > ? order by seq desc limit ?";

// SQLite's way to say "all of them".
const NO_LIMIT = -1;
const BEFORE_ALL = -1;

export function readEvents(
  database: Database,
  session: string,
  range: { readonly after?: number; readonly limit?: number; readonly last?: number },
): readonly StoredEvent[] {
  const after = range.after ?? BEFORE_ALL;
  if (range.last === undefined)
    return database.all(FIRST, [session, after, range.limit ?? NO_LIMIT]).map(toEvent);
  const limit = Math.min(range.last, range.limit ?? range.last);
  return database.all(LAST, [session, after, limit]).map(toEvent).reverse();
}
