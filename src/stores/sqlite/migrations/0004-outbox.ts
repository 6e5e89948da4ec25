import type { Migration } from "../migrate.ts";

/** What channels have read of the journal, and what they still have to tell. */
const TABLES = `
create table channels (name text primary key, place integer not null) without rowid, strict;

create table deliveries (
  channel text not null,
  seq integer not null,
  attempt integer not null,
  since integer not null,
  next_at integer not null,
  dead_at integer,
  error text,
  primary key (channel, seq)
) without rowid, strict;
create index deliveries_due on deliveries (channel, next_at) where dead_at is null;
create index deliveries_dead on deliveries (channel) where dead_at is not null;
`;

export const outboxTables: Migration = {
  version: 4,
  texts: [TABLES],
};
