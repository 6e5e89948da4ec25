// What cycles leave behind on PostgreSQL: transaction ids, write-ahead log, updates in place, dead rows and growth. A report, not a test.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import pg from "pg";
import { PostgresServer } from "../test/support/postgres/server.ts";
import { ContenderProcess } from "./contender-process.ts";
import { emptyLedger } from "./postgres.ts";

const { values } = parseArgs({
  options: { cycles: { type: "string", default: "5000" }, "at-once": { type: "string", default: "16" } },
});
const CYCLES = Number(values.cycles);
const AT_ONCE = Number(values["at-once"]);
const BATCH_MS = 2_000;
/** A connection reports what it did once it has been idle for a second. */
const REPORTED_MS = 3_000;

const COUNTS = `select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as ids,
  (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as logged, pg_database_size(current_database())::float8 as size`;
const TABLES = `select relname as name, n_tup_ins as inserted, n_tup_upd as updated, n_tup_hot_upd as in_place, n_tup_del as deleted,
  n_live_tup as live, n_dead_tup as dead, autovacuum_count as vacuums, pg_total_relation_size(relid) as bytes
  from pg_stat_user_tables order by relname`;
const COLUMNS = ["inserted", "updated", "in_place", "deleted", "live", "dead", "vacuums", "bytes"] as const;

type Counts = Record<"ids" | "logged" | "size", number>;
type Table = { readonly name: string } & Record<(typeof COLUMNS)[number], string>;

async function main(): Promise<void> {
  const server = await PostgresServer.start();
  const url = await emptyLedger(server);
  const client = new pg.Client(url);
  await client.connect();
  const process = new ContenderProcess("engine", { store: "postgres", file: url });
  const run = new Run(process, client);
  try {
    await run.cycles(CYCLES / 10);
    await run.report(CYCLES);
    await run.report(CYCLES);
    await run.held(url, CYCLES / 5);
  } finally {
    await process.stop();
    await client.end();
    await server.stop();
  }
}

class Run {
  readonly #process: ContenderProcess;
  readonly #client: pg.Client;

  constructor(process: ContenderProcess, client: pg.Client) {
    this.#process = process;
    this.#client = client;
  }

  /** At least so many; resolves to how many there were, and how many a second. */
  async cycles(most: number): Promise<{ readonly count: number; readonly rate: number }> {
    let count = 0;
    let ms = 0;
    while (count < most) {
      const batch = await this.#process.run({ kind: "batch", ms: BATCH_MS, inFlight: AT_ONCE });
      count += batch.cycles;
      ms += batch.ms;
    }
    return { count, rate: (1_000 * count) / ms };
  }

  /** What these cycles used and left. */
  async report(most: number): Promise<void> {
    const before = await this.#counts();
    const tables = await this.#tables();
    const { count, rate } = await this.cycles(most);
    await sleep(REPORTED_MS);
    const after = await this.#counts();
    const each = (what: keyof Counts): number => (after[what] - before[what]) / count;
    line(`${count} cycles, ${AT_ONCE} at once, ${rate.toFixed(0)} a second:`);
    line(
      `${each("ids").toFixed(2)} transaction ids, ${kB(each("logged"))} of log and ${kB(each("size"))} of growth a cycle`,
    );
    line(["table", ...COLUMNS].join("\t"));
    for (const table of await this.#tables()) {
      const old = tables.find(({ name }) => name === table.name);
      const cells = COLUMNS.map((column, at) =>
        at < 4 ? ((Number(table[column]) - Number(old?.[column])) / count).toFixed(2) : table[column],
      );
      line([table.name, ...cells].join("\t"));
    }
  }

  /** The rate, and the dead rows, with and without a snapshot that somebody holds. */
  async held(url: string, most: number): Promise<void> {
    const free = await this.cycles(most);
    const holder = new pg.Client(url);
    await holder.connect();
    await holder.query("begin isolation level repeatable read; select count(*) from countersign.documents");
    const held = await this.cycles(most);
    await sleep(REPORTED_MS);
    const dead = (await this.#tables()).map((table) => `${table.name} ${table.dead}`).join(", ");
    await holder.end();
    const rates = `${free.rate.toFixed(0)} cycles a second before, ${held.rate.toFixed(0)} with it`;
    line(`a transaction held open for ${held.count} cycles: ${rates}; dead rows: ${dead}`);
  }

  async #counts(): Promise<Counts> {
    return (await this.#client.query<Counts>(COUNTS)).rows[0] ?? { ids: 0, logged: 0, size: 0 };
  }

  async #tables(): Promise<readonly Table[]> {
    return (await this.#client.query<Table>(TABLES)).rows;
  }
}

function line(text: string): void {
  process.stdout.write(`${text}\n`);
}

function kB(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}

await main();
