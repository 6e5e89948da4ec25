// What PostgreSQL takes for the statements of a cycle alone, with no engine: the bounds of what an engine can reach. A report, not a test.
//   row     what a loop without claims writes: one row per session, written twice and read once, both writes synced
//   five    the least that five commits can be: update a document by its version and insert a log row, the decision synced
//   floor   the statements of one recorded cycle of the store
//   engine  the engine itself
import { readdirSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import pg from "pg";
import { PostgresServer } from "../test/support/postgres/server.ts";
import { ContenderProcess } from "./contender-process.ts";
import { emptyLedger } from "./postgres.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    ms: { type: "string", default: "1000" },
    "in-flight": { type: "string", default: "1,8,64" },
  },
});
const ROUNDS = Number(values.rounds);
const MS = Number(values.ms);
const CONNECTIONS = 4;
/** As long as a document, a log row and the messages of a session are in the middle of a cycle. */
const DOCUMENT = "d".repeat(1_500);
const LOG_ROW = "l".repeat(900);
const MESSAGES = "m".repeat(700);

const TABLES = `
create table bare_rows (k text primary key, v text not null);
create table bare_documents (key text collate "C" primary key, version bigint not null, body text not null) with (fillfactor = 50);
create table bare_log (seq bigint generated always as identity primary key, session text collate "C" not null, n bigint not null,
  body text not null, unique (session, n))`;
const PUT = "insert into bare_rows (k, v) values ($1, $2) on conflict (k) do update set v = excluded.v";
const GET = "select v from bare_rows where k = $1";
const UNSYNCED = ", set_config('synchronous_commit', 'off', true)";
const first = `with made as (insert into bare_documents (key, version, body) values ($1, $2::bigint + 1, $3))
insert into bare_log (session, n, body) values ($1, $2::bigint + 1, $4) returning n${UNSYNCED}`;
const next = (unsynced: string): string => `
with moved as (update bare_documents set version = version + 1, body = $3 where key = $1 and version = $2::bigint returning version)
insert into bare_log (session, n, body) select $1, version, $4 from moved returning n${unsynced}`;
const COMMITS = [first, next(UNSYNCED), next(""), next(UNSYNCED), next(UNSYNCED)];

interface Measured {
  readonly cycles: number;
  readonly ms: number;
  readonly cpuMs: number;
}

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly run: (inFlight: number) => Promise<Measured>;
  readonly stop: () => Promise<unknown>;
}

type Cycle = (pool: pg.Pool, session: string) => Promise<void>;

const cycleOfRow: Cycle = async (pool, session) => {
  await pool.query({ name: "put", text: PUT, values: [session, MESSAGES] });
  await pool.query({ name: "get", text: GET, values: [session] });
  await pool.query({ name: "put", text: PUT, values: [session, MESSAGES + MESSAGES] });
};

const cycleOfFive: Cycle = async (pool, session) => {
  for (const [version, text] of COMMITS.entries()) {
    const given = [session, version, DOCUMENT, LOG_ROW];
    const { rowCount } = await pool.query({ name: `commit ${version}`, text, values: given });
    if (rowCount !== 1) throw new Error("A commit was refused.");
  }
};

async function bare(name: string, url: string, cycle: Cycle): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  await pool.query(TABLES);
  let sessions = 0;
  const run = async (inFlight: number): Promise<Measured> => {
    const cpu = process.cpuUsage();
    const began = performance.now();
    let cycles = 0;
    const lane = async (): Promise<void> => {
      for (; performance.now() - began < MS; cycles += 1) await cycle(pool, `session-${++sessions}`);
    };
    await Promise.all(Array.from({ length: inFlight }, lane));
    const { user, system } = process.cpuUsage(cpu);
    return { cycles, ms: performance.now() - began, cpuMs: (user + system) / 1_000 };
  };
  return { name, url, run, stop: () => pool.end() };
}

function whole(name: string, url: string): Contender {
  const worker = new ContenderProcess(name, { store: "postgres", file: url });
  const run = (inFlight: number): Promise<Measured> => worker.run({ kind: "batch", ms: MS, inFlight });
  return { name, url, run, stop: () => worker.stop() };
}

/** What the server's processes of this database have used so far, in ms of CPU. Linux only. */
function serverMs(url: string): number {
  const database = new URL(url).pathname.slice(1);
  let sum = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(` ${database} `)) continue;
      sum += Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
    } catch {
      // It has ended.
    }
  }
  return sum;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

async function measure(contenders: readonly Contender[], inFlight: number): Promise<void> {
  const taken = new Map<string, { rate: number; client: number; server: number }[]>();
  for (const { run } of contenders) await run(inFlight);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { name, url, run } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const before = serverMs(url);
      const { cycles, ms, cpuMs } = await run(inFlight);
      const one = {
        rate: (1_000 * cycles) / ms,
        client: cpuMs / cycles,
        server: (serverMs(url) - before) / cycles,
      };
      taken.set(name, [...(taken.get(name) ?? []), one]);
    }
  }
  for (const [name, all] of taken) {
    const of = (what: "rate" | "client" | "server"): number => median(all.map((one) => one[what]));
    const cells = [
      inFlight,
      name,
      of("rate").toFixed(0),
      of("client").toFixed(2),
      of("server").toFixed(2),
      loadavg()[0]?.toFixed(1),
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}

async function main(): Promise<void> {
  const server = await PostgresServer.start();
  const contenders: Contender[] = [];
  try {
    contenders.push(await bare("row", await emptyLedger(server), cycleOfRow));
    contenders.push(await bare("five", await emptyLedger(server), cycleOfFive));
    contenders.push(whole("floor", await emptyLedger(server)), whole("engine", await emptyLedger(server)));
    process.stdout.write(
      "| in flight | statements of | cycles a second | CPU ms of the process a cycle | of the server | load |\n" +
        "|---:|---|---:|---:|---:|---:|\n",
    );
    for (const inFlight of values["in-flight"].split(",")) await measure(contenders, Number(inFlight));
  } finally {
    for (const contender of contenders) await contender.stop();
    await server.stop();
  }
}

await main();
