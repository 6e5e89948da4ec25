import type { ChainHead, Page, PageRequest, SessionRecord } from "../../engine/index.ts";
import { type Paging, readPage } from "../sql/pages.ts";
import { toSession } from "../sql/rows.ts";
import type { Database } from "./database.ts";
import { SESSION_LIST } from "./load.ts";

const SELECT = `select ${SESSION_LIST} from sessions s where s.deleted_at is null and `;
const OF_USER = `${SELECT} s.app = ? and s.user = ? and s.id > ? order by s.id limit ?`;
const OF_APP = `${SELECT} s.app = ? and (s.user, s.id) > (?, ?) order by s.user, s.id limit ?`;

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

const STREAMS = "select key, chain_n, chain_hash from sessions where key > ? order by key limit ?";

// A session is made before it is touched, so the index on its making bounds the search. A call without its
// answer keeps a session, even where no question is open: an unknown outcome must not be pruned away.
const IDLE = `
  select s.key from sessions s indexed by sessions_kept
  where s.deleted_at is null and s.created_at < ? and s.updated_at < ? and s.open = 0
    and not exists (
      select 1 from frames indexed by frames_live
      where session = s.key and over = 0 and status <> 'waiting')
    and not exists (
      select 1 from calls where id > s.key || '.' and id < s.key || '/' and session = s.key
      and status in ('waiting', 'ready', 'executing', 'suspended', 'unknown'))
  order by s.created_at limit ?`;

/** Sessions that are not deleted, by user and id. */
export function listSessions(
  database: Database,
  { app, user }: { readonly app: string; readonly user?: string },
  request: PageRequest | undefined,
): Page<SessionRecord> {
  if (user !== undefined) {
    return readPage({ ...OF_USER_PAGING, request }, (after, limit) =>
      database.all(OF_USER, [app, user, ...after, limit]),
    );
  }
  return readPage({ ...OF_APP_PAGING, request }, (after, limit) =>
    database.all(OF_APP, [app, ...after, limit]),
  );
}

export function listStreams(
  database: Database,
  after: string,
  limit: number,
): readonly { readonly key: string; readonly chain: ChainHead }[] {
  return database
    .all(STREAMS, [after, limit])
    .map(([key, n, hash]) => ({ key: key as string, chain: { n: n as number, hash: hash as string } }));
}

export function listIdleSessions(database: Database, before: number, limit: number): readonly string[] {
  return database.all(IDLE, [before, before, limit]).map(([key]) => key as string);
}
