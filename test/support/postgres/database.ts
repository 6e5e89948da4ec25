import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import type { Resources } from "../resources.ts";
import { databaseName, execute } from "./server.ts";
import { TEMPLATE } from "./setup.ts";

const SCHEMA = "countersign";
const TABLES = `select tablename from pg_tables where schemaname = '${SCHEMA}' and tablename <> 'meta'`;

/**
 * Databases that a test is done with. They are used again: to remove one, and to make another, takes the server a
 * hundred times as long as to empty it.
 */
const free: { readonly plain: string[]; readonly clocked: string[] } = { plain: [], clocked: [] };
/** Further schemas of a database that are ledgers, and are emptied with it. */
const schemas = new Map<string, Set<string>>();

/** A database without anything in it, removed after the test. Its URL. */
export async function createEmptyDatabase(resources: Resources): Promise<string> {
  const server = inject("postgres");
  const name = databaseName();
  await execute(server, `create database ${name}`);
  resources.add(() => execute(server, `drop database ${name} with (force)`));
  return urlOf(name);
}

/** A database with an empty ledger, for this test alone; its time is the server's, or that of a clock. Its URL. */
export async function createDatabase(resources: Resources, clock?: DatabaseClock): Promise<string> {
  const list = clock === undefined ? free.plain : free.clocked;
  const url = list.pop() ?? (await copyTemplate());
  resources.add(async () => {
    clock?.leave(url);
    await empty(url);
    list.push(url);
  });
  await clock?.rule(url);
  return url;
}

/** A second ledger in a schema of this database; `make` makes it where an earlier test has not. */
export async function createSchema(url: string, schema: string, make: () => Promise<void>): Promise<void> {
  const made = schemas.get(url) ?? new Set();
  if (made.has(schema)) return;
  await make();
  schemas.set(url, made.add(schema));
}

async function copyTemplate(): Promise<string> {
  const name = databaseName();
  await execute(inject("postgres"), `create database ${name} template ${TEMPLATE}`);
  const url = urlOf(name);
  await empty(url);
  return url;
}

/** The same in every copy of the template. */
let tables: readonly string[] | undefined;

async function empty(url: string): Promise<void> {
  tables ??= (await ask(url, TABLES)).rows.map((row: { readonly tablename: string }) => row.tablename);
  const ledgers = [SCHEMA, ...(schemas.get(url) ?? [])];
  await ask(url, ledgers.flatMap((schema) => emptying(schema, tables ?? [])).join(";"));
}

function emptying(schema: string, names: readonly string[]): readonly string[] {
  return [
    ...names.map((name) => `delete from ${schema}.${name}`),
    `update ${schema}.meta set value = '${randomBytes(32).toString("hex")}' where name = 'digest-key'`,
    `select setval('${schema}.log_seq', 1, false)`,
  ];
}

/** Connections of this worker, one to each database: to open one costs more than what is asked here. */
const clients = new Map<string, Promise<pg.Client>>();

async function ask(url: string, statements: string): Promise<pg.QueryResult> {
  const client = clients.get(url) ?? open(url);
  clients.set(url, client);
  return (await client).query(statements);
}

async function open(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // Whoever asks next opens another.
  const forget = (): void => void clients.delete(url);
  client.on("error", forget).on("end", forget);
  await client.connect();
  // Not in the driver's types.
  (client as pg.Client & { unref(): void }).unref();
  return client;
}

function urlOf(name: string): string {
  const url = new URL(inject("postgres"));
  url.pathname = `/${name}`;
  return url.href;
}

/** Databases whose ledgers go by such a clock. */
const ruled = new Set<string>();

/**
 * A clock that tests move by hand, for ledgers whose clock is the database's: their one source of time is replaced by
 * a row. Nothing in the store knows of this.
 */
export class DatabaseClock {
  readonly #urls = new Set<string>();
  #now: number = Date.UTC(2026, 0, 1);

  now(): number {
    return this.#now;
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    for (const url of this.#urls) await ask(url, this.#set());
  }

  /** Makes the ledgers of this database go by this clock. */
  async rule(url: string): Promise<void> {
    this.#urls.add(url);
    if (ruled.has(url)) return void (await ask(url, this.#set()));
    ruled.add(url);
    await ask(
      url,
      "create table if not exists public.test_clock (one boolean primary key default true, now_ms bigint);" +
        "create or replace function countersign.now_ms() returns bigint language sql volatile as " +
        `'select now_ms from public.test_clock'; ${this.#set()}`,
    );
  }

  leave(url: string): void {
    this.#urls.delete(url);
  }

  #set(): string {
    return `insert into public.test_clock values (true, ${this.#now}) on conflict (one) do update set now_ms = excluded.now_ms`;
  }
}

/** A connection to look behind the ledger's back; closed after the test. */
export async function connect(resources: Resources, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  resources.add(() => client.end());
  return client;
}
