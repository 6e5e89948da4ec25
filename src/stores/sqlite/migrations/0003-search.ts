import type { Migration } from "../migrate.ts";

/**
 * The words of open confirmations. A commit writes nothing of this: whoever searches, or tidies, first brings it
 * up to the journal's end (`search-place` in `meta`).
 */
const TABLES = `
-- words: each with a space before it, so that ' AB' is found in it where a word begins with AB
create table searchable (
  n integer primary key,
  confirmation text not null,
  session text not null,
  deadline integer not null,
  args_digest text not null,
  words text not null
) strict;
create unique index searchable_confirmation on searchable (confirmation);
create index searchable_session on searchable (session);

create table search_words (word text not null, n integer not null, primary key (word, n)) without rowid, strict;

insert into meta (name, value) values ('search-place', 0);
`;

export const searchTables: Migration = {
  version: 3,
  texts: [TABLES],
};
