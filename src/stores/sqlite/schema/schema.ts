import { randomBytes } from "node:crypto";
import type { Migration } from "./migrate.ts";

/**
 * The whole ledger. Rows that can be longer than a kilobyte are in tables with row ids: others would spill to pages of
 * their own.
 */
const TABLES = `
create table meta (name text primary key, value any not null) without rowid, strict;

-- One row per session: all that its next commit has to know. Of that, the body leaves out what the columns say.
create table documents (
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
create unique index documents_name on documents (app, user, id);

-- One row per commit, without gaps.
create table log (
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
create unique index log_session on log (session, n);

-- What is open, due, held, unknown or over, and where to find it.
create table entries (
  facet text not null,
  value text not null,
  sort integer not null,
  id text not null,
  note text,
  primary key (facet, value, sort, id)
) without rowid, strict;

create table items (
  place integer primary key,
  kind text not null,
  id text not null,
  version integer not null,
  expires_at integer,
  value text not null
) strict;
create unique index items_id on items (kind, id);
create index items_expiry on items (expires_at) where expires_at is not null;

create table owners (
  id text primary key,
  host text not null,
  pid integer not null,
  lease_until integer not null,
  last_beat_at integer not null,
  fenced integer not null
) without rowid, strict;

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

/** All of them, oldest first. Only ever appended to: one that was released is never changed. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    texts: [TABLES],
    fill(driver) {
      driver
        .prepare("insert into meta (name, value) values ('digest-key', ?)")
        .run(randomBytes(DIGEST_KEY_BYTES));
    },
  },
];

/** In `meta` of a copy of another store's ledger: positions in the log may have gaps. */
export const GAPS = "gaps";

export const DIGEST_KEY = "select value from meta where name = 'digest-key'";
