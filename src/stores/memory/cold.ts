import { DatabaseSync, type StatementSync } from "node:sqlite";

type Value = null | number | string;
export type ColdRow = readonly Value[];

const SCHEMA = `
create table documents (
  key text primary key,
  app text not null,
  user text not null,
  id text not null,
  version integer not null,
  updated_at integer not null,
  deleted integer not null,
  body text not null
) strict;
create unique index documents_name on documents (app, user, id);

-- A few rows of one session together. A batch is named by its first position in the log; the next begins where it ends.
create table log (
  batch integer not null,
  session text not null,
  first integer not null,
  last integer not null,
  rows text not null,
  texts text not null
) strict;
create unique index log_session on log (session, first);
create index log_batch on log (batch);

create table entries (
  facet text not null,
  value text not null,
  sort integer not null,
  id text not null,
  note text,
  primary key (facet, value, sort, id)
) without rowid, strict;

create table items (
  kind text not null,
  id text not null,
  version integer not null,
  expires_at integer,
  value text not null,
  primary key (kind, id)
) strict;
`;

/** What has not been touched for long: in a database in memory, because that is not on the heap. Made when it is needed. */
export class Cold {
  readonly #statements = new Map<string, StatementSync>();
  #database: DatabaseSync | undefined;

  run(sql: string, ...values: readonly Value[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  get(sql: string, ...values: readonly Value[]): ColdRow | undefined {
    return this.#prepared(sql).get(...values) as unknown as ColdRow | undefined;
  }

  all(sql: string, ...values: readonly Value[]): readonly ColdRow[] {
    return this.#prepared(sql).all(...values) as unknown as readonly ColdRow[];
  }

  together(body: () => void): void {
    this.run("begin");
    try {
      body();
      this.run("commit");
    } catch (error) {
      this.run("rollback");
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database?.close();
    this.#database = undefined;
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    this.#database ??= openDatabase();
    const made = this.#database.prepare(sql);
    made.setReturnArrays(true);
    this.#statements.set(sql, made);
    return made;
  }
}

function openDatabase(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec(SCHEMA);
  return database;
}
