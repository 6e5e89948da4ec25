-- The PostgreSQL ledger as its migrations leave it. Written by scripts/dump-schema.ts; do not edit.
-- No table is public: read through the `Ledger`, which also judges leases and deadlines.
-- Schema 1.

create schema if not exists countersign;
create table if not exists countersign.meta (name text collate "C" primary key, value text not null);

-- One row per session: all that its next commit has to know. Of that, the body leaves out what the columns say.
create table countersign.documents (
  key text collate "C" primary key,
  app text collate "C" not null,
  "user" text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  head text not null,
  updated_at bigint not null,
  deleted boolean not null,
  body text not null
) with (fillfactor = 50);
create unique index documents_name on countersign.documents (app, "user", id);

-- Rows go only when the journal is pruned. A position is given out before its row is committed, so it may be read only up to log_end().
create sequence countersign.log_seq cache 1;
create table countersign.log (
  seq bigint primary key,
  session text collate "C" not null,
  n bigint not null,
  at bigint not null,
  kinds text not null,
  digest text not null,
  hash text not null,
  events bigint not null,
  -- tells a commit whose answer was lost from somebody else's
  commit_id bigint not null,
  body text,
  archived text
);
create unique index log_session on countersign.log (session, n);

-- What is open, due, held, unknown or over, and where to find it.
create table countersign.entries (
  facet text collate "C" not null,
  value text collate "C" not null,
  sort bigint not null,
  id text collate "C" not null,
  note text collate "C",
  primary key (facet, value, sort, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- What belongs to no session. A value is JSON: of an object its names and values in turn, of anything else the whole.
create table countersign.items (
  kind text collate "C" not null,
  id text collate "C" not null,
  value text[] not null,
  version bigint not null,
  expires_at bigint,
  -- as commit_id of a log row
  change_id bigint not null,
  primary key (kind, id)
);
create index items_expiry on countersign.items (expires_at) where expires_at is not null;

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
  claims_from bigint not null,
  -- Two standbys that are promoted one after the other, from the same primary, get the same time line: this tells them apart.
  mark text not null default gen_random_uuid()::text
);

create table countersign.checkpoints (
  k bigint primary key,
  last_seq bigint not null,
  count bigint not null,
  root text not null,
  hash text not null,
  at bigint not null
);

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
    insert into countersign.histories (id, seen_at, claims_from) values (v_id, v_now,
      case when exists (select 1 from countersign.histories) then v_now + p_lease else 0 end)
      on conflict do nothing;
    v_from := (select h.claims_from from countersign.histories h where h.id = v_id);
  elsif v_from > v_now + p_lease then
    -- The clock was set back since: nobody waits for longer than a lease.
    v_from := v_now + p_lease;
    update countersign.histories h set claims_from = v_from where h.id = v_id;
  end if;
  return query select h.id || '/' || h.mark, greatest(0, v_from - v_now) from countersign.histories h where h.id = v_id;
end $$;

create function countersign.may_claim(p_history text, p_now bigint) returns boolean language sql volatile as $$
  select exists (select 1 from countersign.histories h
    where h.id || '/' || h.mark = p_history and h.id = countersign.history() and h.claims_from <= p_now)
$$;

create function countersign.is_barred(p_now bigint) returns boolean language sql volatile as $$
  select exists (select 1 from countersign.histories)
    and not exists (select 1 from countersign.histories h where h.id = countersign.history() and h.claims_from <= p_now)
$$;

create function countersign.log_top() returns bigint language sql volatile as $$
  select case when is_called then last_value else 0 end from countersign.log_seq
$$;

create function countersign.hold_place() returns boolean language sql volatile as $$
  select pg_advisory_xact_lock_shared('countersign.log_seq'::regclass::oid::bigint::bit(32)::integer,
    coalesce(pg_sequence_last_value('countersign.log_seq'::regclass), 0)::bit(32)::integer) is not null
$$;

create function countersign.log_end() returns bigint language plpgsql volatile as $$
declare
  v_top bigint := countersign.log_top();
  v_held bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the log is read in transactions of isolation "read committed" only';
  end if;
  select min(v_top - (v_top - objid::bigint)::bit(32)::integer) into v_held from pg_locks
    where locktype = 'advisory' and objsubid = 2 and classid = 'countersign.log_seq'::regclass
    and database = (select oid from pg_database where datname = current_database());
  return least(v_top, v_held);
end $$;

create function countersign.log_page(p_after bigint, p_until bigint, p_limit bigint, p_newest boolean)
returns setof countersign.log language plpgsql volatile as $$
declare
  v_end bigint := least(p_until, countersign.log_end());
begin
  -- Statements of their own: they see what was committed when the end was found.
  if p_newest then
    return query select * from countersign.log where seq > p_after and seq <= v_end order by seq desc limit p_limit;
  else
    return query select * from countersign.log where seq > p_after and seq <= v_end order by seq limit p_limit;
  end if;
end $$;

create function countersign.entries_page(p_facet text, p_value text, p_sort bigint, p_id text, p_until bigint, p_notes text[],
  p_newest boolean, p_prefix boolean, p_limit bigint)
returns setof countersign.entries language plpgsql stable as $$
begin
  if p_prefix then
    return query select * from countersign.entries e
      where e.facet = p_facet and e.value >= p_value and e.value < p_value || chr(1114111)
      and e.sort <= p_until and (p_notes is null or e.note = any (p_notes))
      order by e.value, e.sort, e.id limit p_limit;
  elsif p_newest then
    return query select * from countersign.entries e
      where e.facet = p_facet and e.value = p_value and (e.sort, e.id) < (p_sort, p_id)
      and e.sort <= p_until and (p_notes is null or e.note = any (p_notes))
      order by e.sort desc, e.id desc limit p_limit;
  else
    return query select * from countersign.entries e
      where e.facet = p_facet and e.value = p_value and (e.sort, e.id) > (p_sort, p_id)
      and e.sort <= p_until and (p_notes is null or e.note = any (p_notes))
      order by e.sort, e.id limit p_limit;
  end if;
end $$;

create function countersign.laid_over(p_old text[], p_new text[]) returns text[] language sql immutable as $$
  with parts as (
    select part, (at - 1) / 2 as place, (at - 1) % 2 as side
    from unnest(case when cardinality(p_old) % 2 = 0 then p_old || p_new else p_new end) with ordinality u (part, at)
  ),
  members as (
    select n.part as name, min(n.place) as place, (array_agg(v.part order by v.place desc))[1] as value
    from parts n join parts v on v.place = n.place and v.side = 1 where n.side = 0 group by n.part
  )
  select coalesce(array_agg(s.part order by m.place, s.side), '{}')
  from members m cross join lateral (values (0, m.name), (1, m.value)) s (side, part)
$$;

create function countersign.refuse() returns boolean language plpgsql volatile as $$
begin
  raise exception using errcode = 'CS001', message = 'guard';
end $$;
