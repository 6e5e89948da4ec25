/**
 * The whole store. Texts compare byte by byte (`collate "C"`), so that their order is everywhere the same. No index has a
 * column that a commit changes, and pages have room for a document's next version: it stays where it is.
 */
export const TABLES = `
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
`;
