import type { Usage } from "../../engine/index.ts";
import type { Database } from "./connection/index.ts";

const USAGE = `
select (select count(*) from (select 1 from countersign.entries where facet = 'open' and value = '' limit $1) p),
  (select count(*) from (select 1 from countersign.documents where key > '' and not deleted limit $2) s),
  (select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c
    where c.relnamespace = 'countersign'::regnamespace and c.relkind = 'r')`;

/** The two counts go no further than asked. */
export async function readUsage(
  database: Database,
  most: Pick<Usage, "pending" | "sessions">,
): Promise<Usage> {
  const [pending, sessions, bytes] = (await database.get(USAGE, [most.pending, most.sessions])) ?? [];
  return { pending: Number(pending), sessions: Number(sessions), bytes: Number(bytes) };
}
