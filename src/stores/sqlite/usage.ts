import type { Usage } from "../../engine/index.ts";
import type { Database } from "./connection/database.ts";

const PENDING = "select count(*) from (select 1 from entries where facet = 'open' and value = '' limit ?)";
const SESSIONS = "select count(*) from (select 1 from documents where key > '' and deleted = 0 limit ?)";
const BYTES =
  "select (page_count - freelist_count) * page_size from pragma_page_count, pragma_freelist_count, pragma_page_size";

/** The two counts go no further than asked. */
export function readUsage(
  database: Database,
  { pending, sessions }: Pick<Usage, "pending" | "sessions">,
): Usage {
  const count = (sql: string, values: readonly number[] = []): number =>
    Number(database.get(sql, values)?.[0]);
  return { pending: count(PENDING, [pending]), sessions: count(SESSIONS, [sessions]), bytes: count(BYTES) };
}
