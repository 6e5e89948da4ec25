import { randomBytes } from "node:crypto";
import type { Migration } from "../migrate.ts";

/**
 * The whole ledger. Ids compare byte by byte (`collate "C"`), so that their order is everywhere the same. What is
 * looked for by status has a partial index that holds only the rows in that status, however long the history.
 */
const TABLES = `
create table countersign.sessions (
  key text collate "C" primary key,
  app text collate "C" not null,
  "user" text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  next_seq bigint not null,
  open integer not null,
  ready integer not null,
  bytes bigint not null,
  chain_n bigint not null,
  chain_hash text not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  -- the commit that made this version: tells a commit whose answer was lost from somebody else's
  commit_id bigint not null
) with (fillfactor = 70);
create unique index sessions_name on countersign.sessions (app, "user", id);
create index sessions_kept on countersign.sessions (created_at) where deleted_at is null;

-- scope 'app': (app, '', ''); 'user': (app, user, ''); 'session': ('', '', session). A row per key, so that
-- sessions that change different keys of their app do not wait for each other. Names and values are JSON.
create table countersign.states (
  scope text collate "C" not null,
  app text collate "C" not null,
  "user" text collate "C" not null,
  session text collate "C" not null,
  name text collate "C" not null,
  value text not null,
  primary key (scope, app, "user", session, name)
);

create table countersign.events (
  session text collate "C" not null,
  seq bigint not null,
  body text not null,
  primary key (session, seq)
);

create table countersign.frames (
  id text collate "C" primary key,
  session text collate "C" not null,
  app text collate "C" not null,
  invocation text not null,
  parent_frame text,
  parent_call text,
  kind text not null,
  agent text collate "C" not null,
  path text not null,
  branch text,
  cursor text not null,
  status text not null,
  turn integer not null,
  calls text not null,
  open integer not null,
  owner text collate "C",
  output text,
  lost integer not null
) with (fillfactor = 70);
create index frames_ready on countersign.frames (app, id) where status = 'ready';
create index frames_live on countersign.frames (session) where status in ('ready', 'stepping', 'waiting');
create index frames_stepping on countersign.frames (owner) where status = 'stepping';

-- Ids are '<session>.<wire id>', so the calls of a session are a range of the primary key.
create table countersign.calls (
  id text collate "C" primary key,
  session text collate "C" not null,
  app text collate "C" not null,
  frame text collate "C",
  turn integer not null,
  ord integer not null,
  wire_id text not null,
  agent text collate "C" not null,
  tool text not null,
  args text not null,
  args_digest text not null,
  definition_digest text not null,
  secrets text not null,
  repeatable smallint not null,
  unparsed smallint not null,
  status text not null,
  attempt integer not null,
  owner text collate "C",
  started_at bigint,
  ended_at bigint,
  confirmation text collate "C",
  rounds integer not null,
  refused smallint not null,
  result text,
  original_args text,
  permit text,
  requesters text,
  lost integer not null,
  -- what lists show of them, where they are long
  args_cut text,
  result_cut text
) with (fillfactor = 70);
create index calls_ready on countersign.calls (app, id) where status = 'ready';
create index calls_executing on countersign.calls (owner) where status = 'executing';
create index calls_unknown on countersign.calls (id) where status = 'unknown';

create table countersign.steps (
  call text collate "C" not null,
  kind text collate "C" not null,
  name text collate "C" not null,
  occurrence integer not null,
  status text not null,
  digest text,
  value text,
  primary key (call, kind, name, occurrence)
);

-- A confirmation without a deadline has the largest one, so that one order serves both. No index knows the status,
-- so that an answer rewrites no index entry.
create table countersign.confirmations (
  id text collate "C" primary key,
  call text collate "C" not null,
  round integer not null,
  session text collate "C" not null,
  app text collate "C" not null,
  agent text collate "C" not null,
  path text not null,
  "user" text collate "C" not null,
  tool text collate "C" not null,
  requesters text not null,
  approvers text not null,
  invocation text not null,
  args_digest text not null,
  shown text not null,
  shown_version integer not null,
  status text not null,
  requested_at bigint not null,
  deadline bigint not null,
  votes text not null,
  withdrawal text,
  -- a JSON array of everyone to whom it is shown
  viewers text not null,
  -- what lists show of them, where they are long
  shown_cut text,
  votes_cut text
) with (fillfactor = 70);
create index confirmations_session on countersign.confirmations (session, id);

-- To whom each was ever shown. Written with the question and never again, so that no answer has to.
create table countersign.viewers (
  viewer text collate "C" not null,
  id text collate "C" not null,
  primary key (viewer, id)
);

-- The open confirmations and nothing else: it stays small, and is cheap to vacuum, whatever the history.
create table countersign.inbox (
  id text collate "C" primary key,
  call text collate "C" not null,
  session text collate "C" not null,
  app text collate "C" not null,
  agent text collate "C" not null,
  "user" text collate "C" not null,
  tool text collate "C" not null,
  deadline bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index inbox_deadline on countersign.inbox (deadline, id);
create index inbox_session on countersign.inbox (session, deadline, id);
create index inbox_user on countersign.inbox ("user", deadline, id);
create index inbox_tool on countersign.inbox (tool, deadline, id);
create index inbox_agent on countersign.inbox (agent, deadline, id);
create index inbox_app on countersign.inbox (app, deadline, id);
-- The same, once for everyone to whom it is shown.
create table countersign.inbox_viewers (
  viewer text collate "C" not null,
  deadline bigint not null,
  id text collate "C" not null,
  primary key (viewer, deadline, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The words of open confirmations. A commit writes nothing of this: whoever searches, or tidies, first brings it up
-- to the journal's end ('search-place' in meta).
create table countersign.searchable (
  confirmation text collate "C" primary key,
  session text collate "C" not null,
  args_digest text not null,
  words tsvector not null
);
create index searchable_session on countersign.searchable (session);
create index searchable_words on countersign.searchable using gin (words);

create table countersign.memos (
  principal text collate "C" not null,
  route text collate "C" not null,
  key text collate "C" not null,
  request_digest text not null,
  response text not null,
  expires_at bigint not null,
  primary key (principal, route, key)
);
create index memos_expiry on countersign.memos (expires_at);

create table countersign.owners (
  id text collate "C" primary key,
  host text not null,
  pid integer not null,
  lease_until bigint not null,
  last_beat_at bigint not null,
  fenced smallint not null,
  history text collate "C" not null
) with (fillfactor = 50);

-- One row for each server, or time line of it, that this ledger was on. Nobody claims before claims_from.
create table countersign.histories (
  id text collate "C" primary key,
  seen_at bigint not null,
  claims_from bigint not null
);

-- Rows are never deleted. A position is given out before its row is committed, so it may be read only up to
-- journal_end().
create sequence countersign.journal_seq cache 1;
create table countersign.journal (
  seq bigint primary key,
  stream text collate "C" not null,
  n bigint not null,
  at bigint not null,
  kind text not null,
  body_digest text not null,
  hash text not null,
  body text,
  commit_id bigint not null
);
create unique index journal_stream on countersign.journal (stream, n);

create table countersign.checkpoints (
  k bigint primary key,
  last_seq bigint not null,
  count bigint not null,
  root text not null,
  hash text not null,
  at bigint not null
);

-- What belongs to no session: tokens, logins, links.
create table countersign.shelf (
  kind text collate "C" not null,
  id text collate "C" not null,
  value text not null,
  version integer not null,
  expires_at bigint,
  primary key (kind, id)
);
create index shelf_expiry on countersign.shelf (expires_at) where expires_at is not null;

-- What channels have read of the journal, and what they still have to tell.
create table countersign.channels (name text collate "C" primary key, place bigint not null);
create table countersign.deliveries (
  channel text collate "C" not null,
  seq bigint not null,
  attempt integer not null,
  since bigint not null,
  next_at bigint not null,
  dead_at bigint,
  error text,
  primary key (channel, seq)
);
create index deliveries_due on countersign.deliveries (channel, next_at, seq) where dead_at is null;
create index deliveries_dead on countersign.deliveries (channel, seq) where dead_at is not null;

insert into countersign.meta (name, value) values ('search-place', '0');
`;

const DIGEST_KEY_BYTES = 32;

export const tables: Migration = {
  version: 1,
  texts: [TABLES],
  async fill(client) {
    const key = randomBytes(DIGEST_KEY_BYTES).toString("hex");
    await client.query({
      text: `insert into countersign.meta (name, value) values ('digest-key', '${key}')`,
    });
  },
};
