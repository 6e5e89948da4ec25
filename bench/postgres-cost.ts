import { execute, type PostgresServer } from "../test/support/postgres/server.ts";
import { contendersOn } from "./contender.ts";
import { ContenderProcess } from "./contender-process.ts";
import { boundBytes, compare } from "./cost.ts";
import { isBackground, isCommit, isSynced } from "./postgres-trace.ts";
import type { Report } from "./report.ts";
import type { Traced } from "./statement-trace.ts";

const FEW_CYCLES = 50;
const MANY_CYCLES = 450;

/** Where ledgers are made, and what counts there. */
export interface Place {
  readonly server: PostgresServer;
  readonly emptyLedger: () => Promise<string>;
}

/** What one cycle costs in round trips, commits, syncs and bytes, and whether the floor pays the same. */
export async function measurePostgresCost(place: Place, report: Report): Promise<void> {
  const rows: string[][] = [];
  const traces = new Map<string, readonly Traced[]>();
  for (const name of Object.keys(contendersOn("postgres"))) {
    report.progress(`cost/postgres ${name}`);
    const trace = (
      await inProcess(name, await place.emptyLedger(), (process) => process.run({ kind: "trace" }))
    )
      .filter(({ sql }) => !isBackground(sql))
      .map(withoutItsId);
    traces.set(name, trace);
    const commits = trace.filter(({ sql }) => isCommit(sql));
    const used = await perCycle(name, place);
    rows.push([
      name,
      String(trace.length),
      String(commits.length),
      String(commits.filter(({ sql }) => isSynced(sql)).length),
      used.fsyncs.toFixed(2),
      number(boundBytes(trace)),
      number(used.kept),
      number(used.logged),
    ]);
  }
  report.table(
    "Cost of one cycle (postgres)",
    ["contender", "round trips", "commits", "synced", "fsyncs", "bytes bound", "bytes kept", "bytes logged"],
    rows,
  );
  const differences = compare(traces.get("engine") ?? [], traces.get("floor") ?? []);
  for (const difference of differences) report.progress(`cost/postgres: ${difference}`);
  report.goal(
    "the floor on postgres sends the statements that the store sends, with as many bytes",
    differences[0] ?? "the same",
    differences.length === 0 ? "met" : "missed",
  );
}

function withoutItsId({ sql, values }: Traced): Traced {
  return { sql, values: values.map(withoutIds) };
}

// A commit's own id is random, and of any length.
function withoutIds(value: Traced["values"][number]): Traced["values"][number] {
  return typeof value === "string" ? value.replaceAll(/"commit_id":"-?\d+"/g, '"commit_id":"id"') : value;
}

interface Used {
  readonly fsyncs: number;
  readonly logged: number;
  readonly kept: number;
}

/** Counted by the server: many cycles against few, so that opening and recording cancel out. */
async function perCycle(name: string, place: Place): Promise<Used> {
  const few = await usedBy(name, FEW_CYCLES, place);
  const many = await usedBy(name, MANY_CYCLES, place);
  const each = (what: keyof Used): number => (many[what] - few[what]) / (MANY_CYCLES - FEW_CYCLES);
  return { fsyncs: each("fsyncs"), logged: each("logged"), kept: each("kept") };
}

async function usedBy(name: string, count: number, { server, emptyLedger }: Place): Promise<Used> {
  const url = await emptyLedger();
  const before = await readUsed(server, url);
  await inProcess(name, url, (process) => process.run({ kind: "cycles", count }));
  await untilAlone(server, url);
  const after = await readUsed(server, url);
  const grown = (what: keyof Used): number => after[what] - before[what];
  return { fsyncs: grown("fsyncs"), logged: grown("logged"), kept: grown("kept") };
}

// Only what answers somebody: what the server writes behind their backs is not waited for.
const USED = (database: string): string => `
  select (select coalesce(sum(fsyncs), 0) from pg_stat_io where object = 'wal' and backend_type = 'client backend')::float8 as fsyncs,
    (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as logged, pg_database_size('${database}')::float8 as kept`;

async function readUsed(server: PostgresServer, url: string): Promise<Used> {
  const database = new URL(url).pathname.slice(1);
  const [found] = await execute(server.url("postgres"), USED(database));
  return found?.rows[0] as Used;
}

/** A connection reports what it did when it ends. */
async function untilAlone(server: PostgresServer, url: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  for (;;) {
    const [found] = await execute(
      server.url("postgres"),
      `select 1 from pg_stat_activity where datname = '${database}'`,
    );
    if (found?.rowCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function inProcess<T>(
  name: string,
  url: string,
  use: (process: ContenderProcess) => Promise<T>,
): Promise<T> {
  const process = new ContenderProcess(name, { store: "postgres", file: url });
  try {
    return await use(process);
  } finally {
    await process.stop();
  }
}

function number(value: number): string {
  return Math.round(value).toLocaleString("en");
}
