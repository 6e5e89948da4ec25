import type { EventRange } from "../../engine/index.ts";
import type { StoredEvent } from "../../protocol/index.ts";
import { toEvent } from "../sql/rows.ts";
import { lastWithin } from "../sql/within-bytes.ts";
import type { Database } from "./database.ts";

const FIRST = "select body from events where session = ? and seq > ? order by seq limit ?";
const LAST = "select body from events where session = ? and seq > ? order by seq desc limit ?";

const FIRST_SIZES =
  "select octet_length(body) from events where session = ? and seq > ? order by seq limit ?";
const LAST_SIZES =
  "select octet_length(body) from events where session = ? and seq > ? order by seq desc limit ?";

const BEFORE_ALL = -1;

export function readEvents(database: Database, session: string, range: EventRange): readonly StoredEvent[] {
  const after = range.after ?? BEFORE_ALL;
  const isLast = range.last !== undefined;
  const limit = Math.min(range.last ?? Number.MAX_SAFE_INTEGER, range.limit ?? Number.MAX_SAFE_INTEGER);
  const most = range.bytes === undefined ? limit : countWithin(database, session, { ...range, after, limit });
  const found = database.map(isLast ? LAST : FIRST, [session, after, most], toEvent);
  return isLast ? found.reverse() : found;
}

function countWithin(
  database: Database,
  session: string,
  { last, after, limit, bytes = 0 }: EventRange & { readonly after: number; readonly limit: number },
): number {
  const sizes = database.all(last === undefined ? FIRST_SIZES : LAST_SIZES, [session, after, limit]);
  const end = lastWithin(
    sizes.map(([size], index) => [index + 1, size ?? 0]),
    bytes,
  );
  return end ?? 0;
}
