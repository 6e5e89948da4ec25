import type { EventRange } from "../../engine/index.ts";
import type { StoredEvent } from "../../protocol/index.ts";
import { toEvent } from "../sql/rows.ts";
import { lastWithin } from "../sql/within-bytes.ts";
import type { Database } from "./database.ts";

const FIRST = "select body from countersign.events where session = $1 and seq > $2 order by seq limit $3";
const LAST = "select body from countersign.events where session = $1 and seq > $2 order by seq desc limit $3";

const FIRST_SIZES =
  "select octet_length(body) from countersign.events where session = $1 and seq > $2 order by seq limit $3";
const LAST_SIZES =
  "select octet_length(body) from countersign.events where session = $1 and seq > $2 order by seq desc limit $3";

const BEFORE_ALL = -1;

export async function readEvents(
  database: Database,
  session: string,
  range: EventRange,
): Promise<readonly StoredEvent[]> {
  const after = range.after ?? BEFORE_ALL;
  const isLast = range.last !== undefined;
  const limit = Math.min(range.last ?? Number.MAX_SAFE_INTEGER, range.limit ?? Number.MAX_SAFE_INTEGER);
  const given = [session, after, limit];
  if (range.bytes !== undefined) {
    const sizes = await database.all(isLast ? LAST_SIZES : FIRST_SIZES, given, { shared: true });
    given[2] =
      lastWithin(
        sizes.map(([size], index) => [index + 1, size ?? 0]),
        range.bytes,
      ) ?? 0;
  }
  const found = (await database.all(isLast ? LAST : FIRST, given, { shared: true })).map(toEvent);
  return isLast ? found.reverse() : found;
}
