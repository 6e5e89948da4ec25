import type { ChainHead, Page, PageRequest, SessionRecord } from "../../engine/index.ts";
import type { Paging } from "../sql/pages.ts";
import { toSession } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { SESSION_LIST } from "./load.ts";
import { readPage } from "./read-page.ts";

const SELECT = `select ${SESSION_LIST} from countersign.sessions s where s.deleted_at is null and s.app = $1`;
const OF_USER = `${SELECT} and s."user" = $2 and s.id > $3 order by s.id limit $4`;
const OF_APP = `${SELECT} and (s."user", s.id) > ($2, $3) order by s."user", s.id limit $4`;

type SessionPaging = Omit<Paging<SessionRecord>, "request">;
const OF_USER_PAGING: SessionPaging = {
  start: [""],
  item: (row) => toSession(row),
  position: ({ id }) => [id],
};
const OF_APP_PAGING: SessionPaging = {
  start: ["", ""],
  item: (row) => toSession(row),
  position: ({ user, id }) => [user, id],
};

const STREAMS =
  "select key, chain_n, chain_hash from countersign.sessions where key > $1 order by key limit $2";

// A session is made before it is touched, so the index on its making bounds the search. A call without its
// answer keeps a session, even where no question is open: an unknown outcome must not be pruned away.
const IDLE = `
  select s.key from countersign.sessions s
  where s.deleted_at is null and s.created_at < $1 and s.updated_at < $1 and s.open = 0
    and not exists (
      select 1 from countersign.frames f where f.session = s.key and f.status in ('ready', 'stepping'))
    and not exists (
      select 1 from countersign.calls k where k.id > s.key || '.' and k.id < s.key || '/' and k.session = s.key
      and k.status in ('waiting', 'ready', 'executing', 'suspended', 'unknown'))
  order by s.created_at limit $2`;

/** Sessions that are not deleted, by user and id. */
export function listSessions(
  database: Database,
  { app, user }: { readonly app: string; readonly user?: string },
  request: PageRequest | undefined,
): Promise<Page<SessionRecord>> {
  if (user !== undefined) {
    return readPage({ ...OF_USER_PAGING, request }, (after, limit) =>
      database.all(OF_USER, [app, user, ...after, limit]),
    );
  }
  return readPage({ ...OF_APP_PAGING, request }, (after, limit) =>
    database.all(OF_APP, [app, ...after, limit]),
  );
}

export async function listStreams(
  database: Database,
  after: string,
  limit: number,
): Promise<readonly { readonly key: string; readonly chain: ChainHead }[]> {
  const rows = await database.all(STREAMS, [after, limit]);
  return rows.map(([key, n, hash]) => ({
    key: key as string,
    chain: { n: n as number, hash: hash as string },
  }));
}

export async function listIdleSessions(
  database: Database,
  before: number,
  limit: number,
): Promise<readonly string[]> {
  return (await database.all(IDLE, [before, limit])).map(([key]) => key as string);
}
