import { randomBytes } from "node:crypto";
import type { Migration } from "../migrate.ts";

/**
 * The whole ledger. Tables are `without rowid`, so a row costs one b-tree and no look-up is two; what is
 * looked for by status has a partial index that holds only the rows in that status, however long the history.
 */
const TABLES = `
create table meta (name text primary key, value any not null) without rowid, strict;

create table sessions (
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
create unique index sessions_name on sessions (app, user, id);
create index sessions_kept on sessions (created_at) where deleted_at is null;

-- scope 'app': (app, '', ''); 'user': (app, user, ''); 'session': ('', '', session)
create table states (
  scope text not null,
  app text not null,
  user text not null,
  session text not null,
  value text not null,
  primary key (scope, app, user, session)
) without rowid, strict;

create table events (
  session text not null,
  seq integer not null,
  body text not null,
  primary key (session, seq)
) without rowid, strict;

create table frames (
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
-- Not by status where another column says it: each change of status would have to write their entries anew.
create index frames_ready on frames (app) where status = 'ready';
create index frames_live on frames (session) where over = 0;
create index frames_held on frames (owner) where owner is not null;

-- Ids are '<session>.<wire id>', so the calls of a session are a range of the primary key.
create table calls (
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
create index calls_ready on calls (app) where status = 'ready';
create index calls_executing on calls (owner) where status = 'executing';
create index calls_unknown on calls (id) where status = 'unknown';

create table steps (
  call text not null,
  kind text not null,
  name text not null,
  occurrence integer not null,
  status text not null,
  digest text,
  value text,
  primary key (call, kind, name, occurrence)
) without rowid, strict;

-- A confirmation without a deadline has the largest one, so that one order serves both.
create table confirmations (
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
create index confirmations_session on confirmations (session);

-- To whom each was ever shown. Written with the question and never again, so that no answer has to.
create table viewers (
  viewer text not null,
  confirmation text not null,
  primary key (viewer, confirmation)
) without rowid, strict;

create trigger confirmation_shown after insert on confirmations begin
  insert into viewers (viewer, confirmation) select value, new.id from json_each(new.viewers);
end;

-- The open confirmations, once for every way to look for them: all of them (facet and value empty) and those
-- of one session, user, tool, agent, app or viewer. One b-tree, where as many indexes would be a page each to write.
create table inbox (
  facet text not null,
  value text not null,
  deadline integer not null,
  confirmation text not null,
  primary key (facet, value, deadline, confirmation)
) without rowid, strict;

create trigger confirmation_opened after insert on confirmations when new.status = 'requested' begin
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

create trigger confirmation_closed after update of status on confirmations
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

create table memos (
  principal text not null,
  route text not null,
  key text not null,
  request_digest text not null,
  response text not null,
  expires_at integer not null,
  primary key (principal, route, key)
) without rowid, strict;
create index memos_expiry on memos (expires_at);

create table owners (
  id text primary key,
  host text not null,
  pid integer not null,
  lease_until integer not null,
  last_beat_at integer not null,
  fenced integer not null
) without rowid, strict;

-- Rows are never deleted, so seq only grows; it is the order of commits, because writers take turns.
create table journal (
  seq integer primary key,
  stream text not null,
  n integer not null,
  at integer not null,
  kind text not null,
  body_digest text not null,
  hash text not null,
  body text
) strict;
create unique index journal_stream on journal (stream, n);

create table checkpoints (
  k integer primary key,
  last_seq integer not null,
  count integer not null,
  root text not null,
  hash text not null,
  at integer not null
) strict;
`;

const DIGEST_KEY_BYTES = 32;

export const ledgerTables: Migration = {
  version: 1,
  texts: [TABLES],
  fill(driver) {
    driver
      .prepare("insert into meta (name, value) values ('digest-key', ?)")
      .run(randomBytes(DIGEST_KEY_BYTES));
  },
};
