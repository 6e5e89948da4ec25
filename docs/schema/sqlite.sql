-- The SQLite ledger as its migrations leave it. Written by scripts/dump-schema.ts; do not edit.
-- No table is public: read through the `Ledger`, which also judges leases and deadlines.

pragma user_version = 4;

CREATE TABLE meta (name text primary key, value any not null) without rowid, strict;

CREATE TABLE sessions (
  key text primary key,
  app text not null,
  user text not null,
  id text not null,
  version integer not null,
  next_seq integer not null,
  open integer not null,
  ready integer not null,
  bytes integer not null,
  chain_n integer not null,
  chain_hash text not null,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer
) without rowid, strict;

CREATE UNIQUE INDEX sessions_name on sessions (app, user, id);

CREATE INDEX sessions_kept on sessions (created_at) where deleted_at is null;

CREATE TABLE states (
  scope text not null,
  app text not null,
  user text not null,
  session text not null,
  value text not null,
  primary key (scope, app, user, session)
) without rowid, strict;

CREATE TABLE events (
  session text not null,
  seq integer not null,
  body text not null,
  primary key (session, seq)
) without rowid, strict;

CREATE TABLE frames (
  id text primary key,
  session text not null,
  app text not null,
  invocation text not null,
  parent_frame text,
  parent_call text,
  kind text not null,
  agent text not null,
  path text not null,
  branch text,
  cursor text not null,
  status text not null,
  turn integer not null,
  calls text not null,
  open integer not null,
  owner text,
  output text,
  lost integer not null,
  over integer not null
) without rowid, strict;

CREATE INDEX frames_ready on frames (app) where status = 'ready';

CREATE INDEX frames_live on frames (session) where over = 0;

CREATE INDEX frames_held on frames (owner) where owner is not null;

CREATE TABLE calls (
  id text primary key,
  session text not null,
  app text not null,
  frame text,
  turn integer not null,
  ord integer not null,
  wire_id text not null,
  agent text not null,
  tool text not null,
  args_digest text not null,
  definition_digest text not null,
  secrets text not null,
  repeatable integer not null,
  unparsed integer not null,
  status text not null,
  attempt integer not null,
  owner text,
  started_at integer,
  ended_at integer,
  confirmation text,
  rounds integer not null,
  refused integer not null,
  permit text,
  requesters text,
  lost integer not null,
  -- what lists show of the long ones below
  args_cut text,
  result_cut text,
  -- Last, because whatever stands behind a long value is read through all of it.
  args text not null,
  result text,
  original_args text
) without rowid, strict;

CREATE INDEX calls_ready on calls (app) where status = 'ready';

CREATE INDEX calls_executing on calls (owner) where status = 'executing';

CREATE INDEX calls_unknown on calls (id) where status = 'unknown';

CREATE TABLE steps (
  call text not null,
  kind text not null,
  name text not null,
  occurrence integer not null,
  status text not null,
  digest text,
  value text,
  primary key (call, kind, name, occurrence)
) without rowid, strict;

CREATE TABLE confirmations (
  id text primary key,
  call text not null,
  round integer not null,
  session text not null,
  app text not null,
  agent text not null,
  path text not null,
  user text not null,
  tool text not null,
  requesters text not null,
  approvers text not null,
  invocation text not null,
  args_digest text not null,
  shown_version integer not null,
  status text not null,
  requested_at integer not null,
  deadline integer not null,
  withdrawal text,
  -- a JSON array of everyone to whom it is shown
  viewers text not null,
  -- what lists show of the long ones below
  shown_cut text,
  votes_cut text,
  -- Last, as in calls.
  votes text not null,
  shown text not null
) without rowid, strict;

CREATE INDEX confirmations_session on confirmations (session);

CREATE TABLE viewers (
  viewer text not null,
  confirmation text not null,
  primary key (viewer, confirmation)
) without rowid, strict;

CREATE TRIGGER confirmation_shown after insert on confirmations begin
  insert into viewers (viewer, confirmation) select value, new.id from json_each(new.viewers);
end;

CREATE TABLE inbox (
  facet text not null,
  value text not null,
  deadline integer not null,
  confirmation text not null,
  primary key (facet, value, deadline, confirmation)
) without rowid, strict;

CREATE TRIGGER confirmation_opened after insert on confirmations when new.status = 'requested' begin
  insert into inbox (facet, value, deadline, confirmation) values
    ('', '', new.deadline, new.id),
    ('session', new.session, new.deadline, new.id),
    ('user', new.user, new.deadline, new.id),
    ('tool', new.tool, new.deadline, new.id),
    ('agent', new.agent, new.deadline, new.id),
    ('app', new.app, new.deadline, new.id);
  insert into inbox (facet, value, deadline, confirmation)
    select 'viewer', value, new.deadline, new.id from json_each(new.viewers);
end;

CREATE TRIGGER confirmation_closed after update of status on confirmations
when old.status = 'requested' and new.status <> 'requested' begin
  delete from inbox where facet = '' and value = '' and deadline = old.deadline and confirmation = old.id;
  delete from inbox where facet = 'session' and value = old.session and deadline = old.deadline and confirmation = old.id;
  delete from inbox where facet = 'user' and value = old.user and deadline = old.deadline and confirmation = old.id;
  delete from inbox where facet = 'tool' and value = old.tool and deadline = old.deadline and confirmation = old.id;
  delete from inbox where facet = 'agent' and value = old.agent and deadline = old.deadline and confirmation = old.id;
  delete from inbox where facet = 'app' and value = old.app and deadline = old.deadline and confirmation = old.id;
  delete from inbox where facet = 'viewer' and value in (select value from json_each(old.viewers))
    and deadline = old.deadline and confirmation = old.id;
end;

CREATE TABLE memos (
  principal text not null,
  route text not null,
  key text not null,
  request_digest text not null,
  response text not null,
  expires_at integer not null,
  primary key (principal, route, key)
) without rowid, strict;

CREATE INDEX memos_expiry on memos (expires_at);

CREATE TABLE owners (
  id text primary key,
  host text not null,
  pid integer not null,
  lease_until integer not null,
  last_beat_at integer not null,
  fenced integer not null
) without rowid, strict;

CREATE TABLE journal (
  seq integer primary key,
  stream text not null,
  n integer not null,
  at integer not null,
  kind text not null,
  body_digest text not null,
  hash text not null,
  body text
) strict;

CREATE UNIQUE INDEX journal_stream on journal (stream, n);

CREATE TABLE checkpoints (
  k integer primary key,
  last_seq integer not null,
  count integer not null,
  root text not null,
  hash text not null,
  at integer not null
) strict;

CREATE TABLE shelf (
  kind text not null,
  id text not null,
  value text not null,
  version integer not null,
  expires_at integer,
  primary key (kind, id)
) without rowid, strict;

CREATE INDEX shelf_expiry on shelf (expires_at) where expires_at is not null;

CREATE TABLE searchable (
  n integer primary key,
  confirmation text not null,
  session text not null,
  deadline integer not null,
  args_digest text not null,
  words text not null
) strict;

CREATE UNIQUE INDEX searchable_confirmation on searchable (confirmation);

CREATE INDEX searchable_session on searchable (session);

CREATE TABLE search_words (word text not null, n integer not null, primary key (word, n)) without rowid, strict;

CREATE TABLE channels (name text primary key, place integer not null) without rowid, strict;

CREATE TABLE deliveries (
  channel text not null,
  seq integer not null,
  attempt integer not null,
  since integer not null,
  next_at integer not null,
  dead_at integer,
  error text,
  primary key (channel, seq)
) without rowid, strict;

CREATE INDEX deliveries_due on deliveries (channel, next_at) where dead_at is null;

CREATE INDEX deliveries_dead on deliveries (channel) where dead_at is not null;
