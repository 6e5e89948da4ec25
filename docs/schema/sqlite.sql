-- The SQLite ledger as its migrations leave it. Written by scripts/dump-schema.ts; do not edit.
-- No table is public: read through the `Ledger`, which also judges leases and deadlines.

pragma user_version = 1;

CREATE TABLE meta (name text primary key, value any not null) without rowid, strict;

CREATE TABLE documents (
  place integer primary key,
  key text not null unique,
  app text not null,
  user text not null,
  id text not null,
  version integer not null,
  head text not null,
  updated_at integer not null,
  deleted integer not null,
  body text not null
) strict;

CREATE UNIQUE INDEX documents_name on documents (app, user, id);

CREATE TABLE log (
  seq integer primary key,
  session text not null,
  n integer not null,
  at integer not null,
  kinds text not null,
  digest text not null,
  hash text not null,
  events integer not null,
  body text,
  archived text
) strict;

CREATE UNIQUE INDEX log_session on log (session, n);

CREATE TABLE entries (
  facet text not null,
  value text not null,
  sort integer not null,
  id text not null,
  note text,
  primary key (facet, value, sort, id)
) without rowid, strict;

CREATE TABLE items (
  place integer primary key,
  kind text not null,
  id text not null,
  version integer not null,
  expires_at integer,
  value text not null
) strict;

CREATE UNIQUE INDEX items_id on items (kind, id);

CREATE INDEX items_expiry on items (expires_at) where expires_at is not null;

CREATE TABLE owners (
  id text primary key,
  host text not null,
  pid integer not null,
  lease_until integer not null,
  last_beat_at integer not null,
  fenced integer not null
) without rowid, strict;

CREATE TABLE checkpoints (
  k integer primary key,
  last_seq integer not null,
  count integer not null,
  root text not null,
  hash text not null,
  at integer not null
) strict;
