/** The only source of time: what judges leases and deadlines is the database's clock, never a replica's. */
export const CLOCK = `
create function countersign.now_ms() returns bigint language sql volatile as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;
`;

/**
 * Which server this is, and which time line it is on: another one after a standby was promoted or a backup restored. Asked
 * inside the statements that claim, because a pooler or a proxy may have changed servers since the last one.
 */
export const HISTORY = `
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
`;

/**
 * How far the log may be read without missing a row that is still on its way. A transaction that adds rows first takes a shared
 * advisory lock that names a position below all of theirs, and gets positions only then. So below the lowest such lock, and
 * up to the last position given out before the locks were looked at, everything that will ever be committed is committed.
 * A lock has two numbers of 32 bits: the sequence, because a database may have many ledgers, and the end of the position; the
 * rest of it is that of the top, because no commit takes so long that two billion others overtake it. One lock for each
 * statement, however many rows it adds: a server has room for so many.
 */
export const LOG_ORDER = `
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
`;

/** One page of entries. Stable, so that all pages of a statement are of one moment. */
export const ENTRIES = `
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
`;

/**
 * Members of objects are names and values in turn, as JSON. A name keeps its place and has its last value, as where
 * JavaScript lays one object over another. Nothing here reads the JSON: a server would refuse or change some of it.
 */
export const ITEMS = `
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
`;

/** Undoes a statement that found out too late that it must not be. */
export const REFUSE = `
create function countersign.refuse() returns boolean language plpgsql volatile as $$
begin
  raise exception using errcode = 'CS001', message = 'guard';
end $$;
`;
