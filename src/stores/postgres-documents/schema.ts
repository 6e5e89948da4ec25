/** Tables. What is looked up by text is compared by bytes, as JavaScript compares it. */
export const TABLES = `
create table countersign.documents (
  key text collate "C" primary key,
  app text collate "C" not null,
  "user" text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  head text not null,
  updated_at bigint not null,
  deleted boolean not null,
  body text not null,
  unique (app, "user", id)
) with (fillfactor = 70);

create sequence countersign.log_seq;

create table countersign.log (
  seq bigint primary key,
  session text collate "C" not null,
  n bigint not null,
  at bigint not null,
  kinds text not null,
  digest text not null,
  hash text not null,
  events bigint not null,
  -- Whether a commit was done can be asked when its answer was lost.
  commit_id bigint not null,
  body text,
  archived text,
  unique (session, n)
);

-- What is open, due, held, unknown or over, and where to find it.
create table countersign.entries (
  facet text collate "C" not null,
  value text collate "C" not null,
  sort bigint not null,
  id text collate "C" not null,
  note text collate "C",
  primary key (facet, value, sort, id)
);

create table countersign.items (
  kind text collate "C" not null,
  id text collate "C" not null,
  value text not null,
  version bigint not null,
  expires_at bigint,
  primary key (kind, id)
);
create index items_expiry on countersign.items (expires_at) where expires_at is not null;
`;
