// `node bench/postgres.ts`: cycles per second on PostgreSQL with 1, 8 and 64 in flight, of the engine and of the bare
// statements that it sends, replayed through the same driver. Starts a server of its own.
import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { Engine } from "../src/engine/index.ts";
import { migratePostgres, openPostgresLedger } from "../src/stores/postgres/index.ts";
import { databaseName, execute, PostgresServer } from "../test/support/postgres.ts";
import { ScriptedAgent } from "./contenders/engine.ts";

const IN_FLIGHT = [1, 8, 64] as const;
const POOL = 16;
const WARM_CYCLES = 200;
const CYCLES = 600;
const ROUNDS = 3;
const LEASE_MS = 3_600_000;

/** What was sent in one cycle, in order. */
type Sent = readonly pg.QueryConfig[];

interface Rate {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

async function main(): Promise<void> {
  const server = await PostgresServer.start();
  try {
    const recorded = await record(server);
    const statements = recorded.reduce((sum, { length }) => sum + length, 0) / recorded.length;
    print(`statements per cycle: ${statements.toFixed(2)}`);
    for (const text of shapesOf(recorded[recorded.length - 1] ?? [])) print(`  ${text}`);
    print(
      "| in flight | engine, cycles/s | statements alone | engine / alone | CPU µs per cycle, engine / alone |",
    );
    print("| ---: | ---: | ---: | ---: | ---: |");
    for (const inFlight of IN_FLIGHT) print(await compare(server, recorded, inFlight));
  } finally {
    await server.stop();
  }
}

async function compare(server: PostgresServer, recorded: readonly Sent[], inFlight: number): Promise<string> {
  const engine: Rate[] = [];
  const alone: Rate[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    engine.push(await runEngine(server, inFlight));
    alone.push(await replay(server, recorded, inFlight));
  }
  const [ours, bare] = [median(engine), median(alone)];
  const cpu = `${Math.round(ours.cpuMicros)} / ${Math.round(bare.cpuMicros)}`;
  const ratio = (ours.perSecond / bare.perSecond).toFixed(2);
  return `| ${inFlight} | ${Math.round(ours.perSecond)} | ${Math.round(bare.perSecond)} | ${ratio} | ${cpu} |`;
}

function median(rates: readonly Rate[]): Rate {
  const sorted = rates.toSorted((a, b) => a.perSecond - b.perSecond);
  return sorted[Math.floor(sorted.length / 2)] ?? { perSecond: 0, cpuMicros: 0 };
}

async function emptyLedger(server: PostgresServer): Promise<string> {
  const name = databaseName();
  await execute(server.url("postgres"), `create database ${name}`);
  await migratePostgres(server.url(name));
  return `${server.url(name)}?pool=${POOL}`;
}

async function openAgent(url: string): Promise<ScriptedAgent> {
  const ledger = await openPostgresLedger({ url });
  const engine = new Engine({ ledger, hostName: "bench", leaseMs: LEASE_MS });
  return new ScriptedAgent(engine, ({ amount }) => ({ ok: true, amount }));
}

async function cycle(agent: ScriptedAgent, number: number): Promise<void> {
  const paused = await agent.pause(`session-${String(number).padStart(12, "0")}`);
  await paused.approve();
}

async function runEngine(server: PostgresServer, inFlight: number): Promise<Rate> {
  const agent = await openAgent(await emptyLedger(server));
  try {
    await each(WARM_CYCLES, inFlight, (number) => cycle(agent, number));
    return await measured(CYCLES, inFlight, (number) => cycle(agent, WARM_CYCLES + number));
  } finally {
    await agent.engine.close();
  }
}

/** One cycle after the other, so that each statement belongs to one of them. */
async function record(server: PostgresServer): Promise<readonly Sent[]> {
  const current = new AsyncLocalStorage<pg.QueryConfig[]>();
  const recorded: pg.QueryConfig[][] = [];
  const agent = await openAgent(await emptyLedger(server));
  const restore = watchQueries((config) => current.getStore()?.push(config));
  try {
    for (let number = 0; number < WARM_CYCLES + CYCLES; number += 1) {
      const sent: pg.QueryConfig[] = [];
      recorded.push(sent);
      await current.run(sent, () => cycle(agent, number));
    }
    await agent.engine.close();
  } finally {
    restore();
  }
  return recorded;
}

/** Every query of the driver passes here, until the returned function is called. */
function watchQueries(seen: (config: pg.QueryConfig) => void): () => void {
  const prototype = pg.Client.prototype as { query: unknown };
  const real = prototype.query as (...args: unknown[]) => unknown;
  prototype.query = function query(this: pg.Client, ...args: unknown[]): unknown {
    seen({ ...(args[0] as pg.QueryConfig) });
    return Reflect.apply(real, this, args);
  };
  return () => {
    prototype.query = real;
  };
}

async function replay(server: PostgresServer, recorded: readonly Sent[], inFlight: number): Promise<Rate> {
  const url = new URL(await emptyLedger(server));
  url.search = "";
  const pool = new pg.Pool({ connectionString: url.href, max: POOL });
  pool.on("error", () => {});
  const send = async (number: number): Promise<void> => {
    for (const query of recorded[number] ?? []) {
      const { rows } = (await pool.query(query)) as { rows: unknown[][] };
      if (query.text.includes("countersign.commit") && rows[0]?.[0] !== "ok")
        throw new Error(`A commit was answered ${String(rows[0]?.[0])}.`);
    }
  };
  try {
    // The first of them registers the owner under whom the others claim.
    await send(0);
    await each(WARM_CYCLES - 1, inFlight, (number) => send(number + 1));
    return await measured(CYCLES, inFlight, (number) => send(WARM_CYCLES + number));
  } finally {
    await pool.end();
  }
}

async function each(count: number, inFlight: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(inFlight, count) }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

async function measured(
  count: number,
  inFlight: number,
  work: (number: number) => Promise<void>,
): Promise<Rate> {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await each(count, inFlight, work);
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: count / seconds, cpuMicros: (user + system) / count };
}

function shapesOf(sent: Sent): readonly string[] {
  return sent.map(({ text }) => text.replaceAll(/\s+/g, " ").trim().slice(0, 110));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
