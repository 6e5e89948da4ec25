import { migratePostgres } from "../src/stores/postgres/index.ts";
import { databaseName, execute, PostgresServer } from "../test/support/postgres/server.ts";
import { COLUMNS, contest } from "./cycle.ts";
import type { Options } from "./options.ts";
import { measurePostgresCost } from "./postgres-cost.ts";
import type { Report } from "./report.ts";

const IN_FLIGHT = [1, 8, 64] as const;
const GOAL = 0.5;
// Two programs share the cores there: short rounds differ more.
const LONGER = 3;

/** The cycle on PostgreSQL against its bare statements, with several sessions under way, and what a cycle costs there. */
export async function measurePostgres(options: Options, folder: string, report: Report): Promise<void> {
  const server = await PostgresServer.start([], folder);
  try {
    const rows: string[][] = [];
    const terms = { ...options, batchMs: LONGER * options.batchMs };
    for (const inFlight of IN_FLIGHT) {
      const places = { engine: await emptyLedger(server), floor: await emptyLedger(server) };
      const arena = {
        name: `postgres, ${inFlight} in flight`,
        store: "postgres",
        inFlight,
        goal: GOAL,
        place: (contender: string) => places[contender as keyof typeof places],
      } as const;
      rows.push(...(await contest(arena, terms, report)));
    }
    report.table("Cycle on PostgreSQL (CPU: of this process, not of the server)", COLUMNS, rows);
    await measurePostgresCost({ server, emptyLedger: () => emptyLedger(server) }, report);
  } finally {
    await server.stop();
  }
}

/** The URL of a new database with the schema in it. */
export async function emptyLedger(server: PostgresServer): Promise<string> {
  const name = databaseName();
  await execute(server.url("postgres"), `create database ${name}`);
  await migratePostgres(server.url(name));
  return server.url(name);
}
