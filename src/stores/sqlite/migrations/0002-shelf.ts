import type { Migration } from "../migrate.ts";

/** What belongs to no session: tokens, logins, links. */
const TABLES = `
create table shelf (
  kind text not null,
  id text not null,
  value text not null,
  version integer not null,
  expires_at integer,
  primary key (kind, id)
) without rowid, strict;

create index shelf_expiry on shelf (expires_at) where expires_at is not null;
`;

export const shelfTable: Migration = {
  version: 2,
  texts: [TABLES],
};
