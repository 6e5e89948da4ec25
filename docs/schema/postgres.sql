-- The PostgreSQL ledger as its migrations leave it. Written by scripts/dump-schema.ts; do not edit.
-- No table is public: read through the `Ledger`, which also judges leases and deadlines.
-- Schema 2.

create schema if not exists countersign;
create table if not exists countersign.meta (name text collate "C" primary key, value text not null);

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

create function countersign.now_ms() returns bigint language sql volatile as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;

create function countersign.history() returns text language sql volatile as $$
  select system_identifier || '/' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) from pg_control_system()
$$;

create function countersign.see_history(p_lease bigint) returns table (id text, claims_in bigint)
language plpgsql volatile as $$
declare
  v_id text := countersign.history();
  v_now bigint := countersign.now_ms();
  v_from bigint := (select h.claims_from from countersign.histories h where h.id = v_id);
begin
  if v_from is null then
    insert into countersign.histories values (v_id, v_now,
      case when exists (select 1 from countersign.histories) then v_now + p_lease else 0 end)
      on conflict do nothing;
    v_from := (select h.claims_from from countersign.histories h where h.id = v_id);
  elsif v_from > v_now + p_lease then
    -- The clock was set back since: nobody waits for longer than a lease.
    v_from := v_now + p_lease;
    update countersign.histories h set claims_from = v_from where h.id = v_id;
  end if;
  return query select v_id, greatest(0, v_from - v_now);
end $$;

create function countersign.may_claim(p_history text, p_now bigint) returns boolean language sql volatile as $$
  select exists (select 1 from countersign.histories h
    where h.id = p_history and h.id = countersign.history() and h.claims_from <= p_now)
$$;

create function countersign.is_barred(p_now bigint) returns boolean language sql volatile as $$
  select exists (select 1 from countersign.histories)
    and not exists (select 1 from countersign.histories h where h.id = countersign.history() and h.claims_from <= p_now)
$$;

create function countersign.journal_top() returns bigint language sql volatile as $$
  select case when is_called then last_value else 0 end from countersign.journal_seq
$$;

create function countersign.journal_end() returns bigint language plpgsql volatile as $$
declare
  v_top bigint := countersign.journal_top();
  v_held bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the journal is read in transactions of isolation "read committed" only';
  end if;
  select min(((classid::bigint & 65535) << 32) | objid::bigint) into v_held from pg_locks
    where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 16 = 17235
    and database = (select oid from pg_database where datname = current_database());
  return least(v_top, v_held);
end $$;

create function countersign.journal_page(p_after bigint, p_until bigint, p_limit integer)
returns setof countersign.journal language plpgsql volatile as $$
declare
  v_end bigint := least(p_until, countersign.journal_end());
begin
  -- A statement of its own: it sees what was committed when the end was found.
  return query select * from countersign.journal where seq > p_after and seq <= v_end order by seq limit p_limit;
end $$;

create function countersign.next_position() returns bigint language sql volatile as $$
  select case when pg_advisory_xact_lock_shared((17235::bigint << 48)
      | coalesce(pg_sequence_last_value('countersign.journal_seq'::regclass), 0)) is null then null
    else nextval('countersign.journal_seq'::regclass) end
$$;

create function countersign.add_records(p_commit bigint, p_rows jsonb) returns void language plpgsql volatile as $$
begin
  -- Once, however many there are: a server has room for so many locks.
  perform pg_advisory_xact_lock_shared((17235::bigint << 48) | countersign.journal_top());
  insert into countersign.journal (seq, stream, n, at, kind, body_digest, hash, body, commit_id)
    select nextval('countersign.journal_seq'), r.stream, r.n, r.at, r.kind, r.body_digest, r.hash, r.body, p_commit
    from jsonb_populate_recordset(null::countersign.journal, p_rows) r;
end $$;

create function countersign.show_confirmation() returns trigger language plpgsql volatile as $$
begin
  insert into countersign.viewers (viewer, id) select v, new.id from json_array_elements_text(new.viewers::json) v;
  if new.status = 'requested' then
    insert into countersign.inbox_viewers (viewer, deadline, id)
      select v, new.deadline, new.id from json_array_elements_text(new.viewers::json) v;
  end if;
  return null;
end $$;
create trigger confirmation_shown after insert on countersign.confirmations
  for each row execute function countersign.show_confirmation();

create function countersign.hide_confirmation() returns trigger language plpgsql volatile as $$
begin
  delete from countersign.inbox_viewers where deadline = old.deadline and id = old.id
    and viewer in (select v from json_array_elements_text(old.viewers::json) v);
  return null;
end $$;
create trigger confirmation_closed after update of status on countersign.confirmations
  for each row when (old.status = 'requested' and new.status <> 'requested')
  execute function countersign.hide_confirmation();

create function countersign.erase(p_key text, p_shown text, p_votes jsonb) returns void language plpgsql volatile as $$
declare
  -- The bounds, both exclusive, within which the session's calls and frames lie.
  v_after text collate "C" := p_key || '.';
  v_before text collate "C" := p_key || '/';
begin
  delete from countersign.searchable where session = p_key;
  delete from countersign.events where session = p_key;
  delete from countersign.states where scope = 'session' and app = '' and "user" = '' and session = p_key;
  update countersign.frames set cursor = 'null', output = null
    where id > v_after and id < v_before and session = p_key;
  update countersign.calls set args = '{}', secrets = '[]', original_args = null, result = null,
    args_cut = null, result_cut = null
    where id > v_after and id < v_before and session = p_key;
  update countersign.steps set value = null where call > v_after and call < v_before
    and exists (select 1 from countersign.calls where id = steps.call and session = p_key);
  update countersign.confirmations c set shown = p_shown, votes = coalesce(p_votes ->> c.id, c.votes),
    shown_cut = null, votes_cut = null, withdrawal = case when withdrawal is null then null else '' end where session = p_key;
  update countersign.journal set body = null where stream = p_key;
end $$;

create function countersign.refuse() returns text language plpgsql volatile as $$
begin
  raise exception using errcode = 'CS001', message = 'row';
end $$;

create function countersign.move_call(w jsonb) returns boolean language plpgsql volatile as $$
declare
  v countersign.calls;
begin
  select * into v from countersign.calls where id = w ->> 'id';
  if v.status is distinct from w ->> 'from' or v.attempt <> (w ->> 'attempt')::integer then return false; end if;
  v := jsonb_populate_record(v, w -> 'set');
  update countersign.calls set status = v.status, attempt = v.attempt, owner = v.owner, started_at = v.started_at,
    ended_at = v.ended_at, confirmation = v.confirmation, rounds = v.rounds, refused = v.refused, result = v.result,
    args = v.args, original_args = v.original_args, args_digest = v.args_digest, args_cut = v.args_cut,
    result_cut = v.result_cut, definition_digest = v.definition_digest, lost = v.lost where id = v.id;
  return true;
end $$;

create function countersign.move_frame(w jsonb) returns boolean language plpgsql volatile as $$
declare
  v countersign.frames;
begin
  select * into v from countersign.frames where id = w ->> 'id';
  if v.status is distinct from w ->> 'from' then return false; end if;
  v := jsonb_populate_record(v, w -> 'set');
  update countersign.frames set status = v.status, turn = v.turn, calls = v.calls, open = v.open,
    cursor = v.cursor, output = v.output, agent = v.agent, path = v.path, owner = v.owner,
    lost = v.lost where id = v.id;
  return true;
end $$;

create function countersign.move_confirmation(w jsonb, p_now bigint) returns text language plpgsql volatile as $$
declare
  v countersign.confirmations;
begin
  select * into v from countersign.confirmations where id = w ->> 'id';
  if v.status is distinct from w ->> 'from' then return 'row'; end if;
  if (w ->> 'deadline' = 'ahead' and v.deadline <= p_now) or (w ->> 'deadline' = 'passed' and v.deadline > p_now)
    then return 'deadline'; end if;
  v := jsonb_populate_record(v, w -> 'set');
  update countersign.confirmations set status = v.status, votes = v.votes, withdrawal = v.withdrawal,
    shown = v.shown, shown_version = v.shown_version, args_digest = v.args_digest, shown_cut = v.shown_cut,
    votes_cut = v.votes_cut where id = v.id;
  if v.status <> 'requested' then delete from countersign.inbox where id = v.id; end if;
  return 'ok';
end $$;

create function countersign.put_step(w jsonb) returns boolean language plpgsql volatile as $$
declare
  v countersign.steps := jsonb_populate_record(null::countersign.steps, w -> 'row');
begin
  if w ->> 'from' is null then
    insert into countersign.steps values (v.*) on conflict do nothing;
  else
    update countersign.steps set status = v.status, digest = v.digest, value = v.value
      where call = v.call and kind = v.kind and name = v.name and occurrence = v.occurrence
      and status = w ->> 'from';
  end if;
  return found;
end $$;

create function countersign.put_memo(w jsonb, p_now bigint) returns boolean language plpgsql volatile as $$
begin
  -- A key that is still remembered refuses the commit: its first answer stands.
  insert into countersign.memos as m select r.* from jsonb_populate_record(null::countersign.memos, w -> 'row') r
    on conflict (principal, route, key) do update set request_digest = excluded.request_digest,
    response = excluded.response, expires_at = excluded.expires_at where m.expires_at <= p_now;
  return found;
end $$;

create function countersign.put_state(p_key text, w jsonb) returns void language plpgsql volatile as $$
begin
  insert into countersign.states (scope, app, "user", session, name, value)
    select w ->> 'scope', case w ->> 'scope' when 'session' then '' else s.app end,
      case w ->> 'scope' when 'user' then s."user" else '' end,
      case w ->> 'scope' when 'session' then s.key else '' end, e ->> 0, e ->> 1
    from countersign.sessions s, jsonb_array_elements(w -> 'entries') e where s.key = p_key
    on conflict (scope, app, "user", session, name) do update set value = excluded.value;
end $$;

create function countersign.is_stepping_beside(p_key text, w jsonb) returns boolean language sql stable as $$
  select case w ->> 'kind'
    when 'frame-insert' then exists (
      select 1 from countersign.frames f where f.session = p_key and f.status in ('ready', 'stepping', 'waiting')
      and f.status = 'stepping' and f.branch is not distinct from w #>> '{rows,0,branch}')
    else exists (
      select 1 from countersign.frames f join countersign.frames other on other.session = f.session
      and other.status in ('ready', 'stepping', 'waiting') and other.status = 'stepping' and other.id <> f.id
      and other.branch is not distinct from f.branch where f.id = w ->> 'id')
  end
$$;

create function countersign.put(p_key text, p_commit bigint, p_now bigint, w jsonb) returns text
language plpgsql volatile as $$
begin
  case w ->> 'kind'
    when 'event' then
      insert into countersign.events (session, seq, body)
        select p_key, r.seq, r.body from jsonb_populate_recordset(null::countersign.events, w -> 'rows') r;
    when 'journal' then
      perform countersign.add_records(p_commit, w -> 'rows');
    when 'call-insert' then
      insert into countersign.calls select r.* from jsonb_populate_recordset(null::countersign.calls, w -> 'rows') r;
    when 'confirmation-insert' then
      insert into countersign.confirmations
        select r.* from jsonb_populate_recordset(null::countersign.confirmations, w -> 'rows') r;
      insert into countersign.inbox (id, call, session, app, agent, "user", tool, deadline)
        select r.id, r.call, r.session, r.app, r.agent, r."user", r.tool, r.deadline
        from jsonb_populate_recordset(null::countersign.confirmations, w -> 'rows') r where r.status = 'requested';
    when 'frame-insert' then
      insert into countersign.frames select r.* from jsonb_populate_recordset(null::countersign.frames, w -> 'rows') r;
    when 'frame-update' then
      return case when countersign.move_frame(w) then 'ok' else 'row' end;
    when 'call-update' then
      return case when countersign.move_call(w) then 'ok' else 'row' end;
    when 'confirmation-update' then
      return countersign.move_confirmation(w, p_now);
    when 'step' then
      return case when countersign.put_step(w) then 'ok' else 'row' end;
    when 'remember' then
      return case when countersign.put_memo(w, p_now) then 'ok' else 'row' end;
    when 'state' then
      perform countersign.put_state(p_key, w);
    when 'erase' then
      perform countersign.erase(p_key, w ->> 'shown', w -> 'votes');
  end case;
  return 'ok';
end $$;

create function countersign.commit(
  p_commit bigint, p_sync boolean, p_owner text, p_key text, p_version bigint, p_head text, p_app text, p_user text, p_id text,
  p_next_seq bigint, p_open integer, p_ready integer, p_bytes bigint, p_chain_n bigint, p_chain_hash text, p_updated_at bigint, p_deleted_at bigint,
  p_writes jsonb
) returns text language plpgsql volatile as $$
declare
  v_now bigint := countersign.now_ms();
  v_last integer := jsonb_array_length(p_writes) - 1;
  v_found text;
  w jsonb;
begin
  if not p_sync then
    perform set_config('synchronous_commit', 'off', true);
  elsif current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  if p_id is null then
    -- Judged in one look with the version, and before anything is written: it is an answer, not a rare accident.
    for i in 0 .. v_last loop
      w := p_writes -> i;
      continue when not w ? 'exclusive';
      select case when s.version <> p_version then 'version'
        when countersign.is_stepping_beside(p_key, w) then 'busy' end
        into v_found from countersign.sessions s where s.key = p_key;
      if v_found = 'busy' then return v_found; end if;
    end loop;
    update countersign.sessions set version = version + 1, next_seq = p_next_seq, open = p_open,
      ready = p_ready, bytes = p_bytes, chain_n = p_chain_n, chain_hash = p_chain_hash, updated_at = p_updated_at,
      deleted_at = coalesce(p_deleted_at, deleted_at), commit_id = p_commit
      where key = p_key and version = p_version and chain_hash = coalesce(p_head, chain_hash);
  else
    insert into countersign.sessions (key, app, "user", id, version, next_seq, open, ready, bytes, chain_n, chain_hash,
      created_at, updated_at, deleted_at, commit_id)
      values (p_key, p_app, p_user, p_id, p_version + 1, p_next_seq, p_open, p_ready, p_bytes, p_chain_n, p_chain_hash,
      p_updated_at, p_updated_at, p_deleted_at, p_commit) on conflict do nothing;
  end if;
  if not found then
    -- Sent again because its first answer was lost on the way: it was committed then.
    if exists (select 1 from countersign.sessions
        where key = p_key and version = p_version + 1 and commit_id = p_commit)
      or exists (select 1 from countersign.journal where stream = p_key and n = p_chain_n and commit_id = p_commit)
      then return 'ok'; end if;
    return 'version';
  end if;
  if p_owner is not null then
    select case when countersign.may_claim(o.history, v_now) then 'ok' else 'history' end into v_found
      from countersign.owners o where o.id = p_owner and o.fenced = 0 and o.lease_until > v_now;
    if v_found is distinct from 'ok' then
      raise exception using errcode = 'CS001', message = coalesce(v_found, 'owner');
    end if;
  end if;
  for i in 0 .. v_last loop
    v_found := countersign.put(p_key, p_commit, v_now, p_writes -> i);
    if v_found <> 'ok' then raise exception using errcode = 'CS001', message = v_found; end if;
  end loop;
  return 'ok';
end $$;
