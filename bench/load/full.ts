import { fillLedger } from "../../test/support/ledger/full-ledger.ts";
import { execute, PostgresServer } from "../../test/support/postgres/server.ts";
import type { Options } from "../options.ts";
import { emptyLedger } from "../postgres.ts";
import type { Report } from "../report.ts";
import { median, quantile } from "../statistics.ts";
import { toolDigest } from "./agent.ts";
import { FullLedger, OPERATIONS, type Operation, type Size } from "./full-ledger.ts";
import { costBetween, type ServerCost, serverCost } from "./server-cost.ts";

const FLAT = 1.5;
const SETTINGS = ["shared_buffers=512MB", "max_wal_size=4GB", "maintenance_work_mem=256MB"];
const WARM_UP = 20;
const SAMPLES = 120;
const CYCLES = 1_000;
const GIB = 2 ** 30;

/** A ledger, and what was seen of it. */
interface Subject {
  readonly size: Size;
  readonly url: string;
  readonly ledger: FullLedger;
  readonly times: Map<Operation, number[]>;
}

/** What people and programs do on a ledger with a short history and on one with a long one, in turn. */
export async function measureFull(options: Options, folder: string, report: Report): Promise<void> {
  const sizes: readonly Size[] = [
    { decided: 10_000, pending: 2_000 },
    { decided: options.decided, pending: options.pending },
  ];
  const server = await PostgresServer.start(SETTINGS, folder);
  const subjects: Subject[] = [];
  try {
    for (const size of sizes) subjects.push(await fill(server, size, report));
    const samples = options.quick ? WARM_UP : SAMPLES;
    for (let round = 0; round < WARM_UP + samples; round += 1) {
      if (round % WARM_UP === 0) report.progress(`full: round ${round} of ${WARM_UP + samples}`);
      await sampleAll(subjects, round >= WARM_UP);
    }
    tellTimes(subjects, report);
    await tellCosts(subjects, options.quick ? CYCLES / 10 : CYCLES, report);
  } finally {
    for (const { ledger } of subjects) await ledger.close();
    await server.stop();
  }
}

async function fill(server: PostgresServer, size: Size, report: Report): Promise<Subject> {
  const { decided, pending } = size;
  const url = await emptyLedger(server);
  const began = performance.now();
  const definitionDigest = toolDigest();
  await fillLedger(url, { pending, answered: decided, ended: true, definitionDigest });
  const filled = performance.now();
  const ledger = await FullLedger.open(url, size);
  const [result] = await execute(url, "select pg_database_size(current_database()) as bytes");
  const [row] = (result?.rows ?? []) as { readonly bytes: string }[];
  const bytes = Number(row?.bytes);
  const each = Math.round(bytes / (decided + pending));
  report.progress(
    `full: ${count(size)} took ${seconds(filled - began)} s to fill and ${seconds(performance.now() - filled)} s to count; ` +
      `${(bytes / GIB).toFixed(1)} GiB, ${each} bytes each`,
  );
  return { size, url, ledger, times: new Map(OPERATIONS.map((operation) => [operation, []])) };
}

/** Each operation on each ledger, one after the other: what slows the machine down meets both. */
async function sampleAll(subjects: readonly Subject[], counted: boolean): Promise<void> {
  for (const operation of OPERATIONS) {
    for (const { ledger, times } of subjects) {
      const took = await ledger.time(operation);
      if (counted) times.get(operation)?.push(took);
    }
  }
}

function tellTimes(subjects: readonly Subject[], report: Report): void {
  const [small, large] = subjects;
  if (small === undefined || large === undefined) return;
  for (const operation of OPERATIONS) {
    const ratio = median(large.times.get(operation) ?? []) / median(small.times.get(operation) ?? []);
    report.goal(
      `${operation}: with ${count(large.size)} at most ${FLAT} times as long as with ${count(small.size)}`,
      ratio.toFixed(2),
      ratio > FLAT ? "missed" : ratio < 1 / FLAT ? "not shown" : "met",
    );
  }
  report.table(
    "A long history: how long things take, one at a time",
    ["measured", "ledger", "p50 ms", "p99 ms", "samples"],
    OPERATIONS.flatMap((operation) =>
      subjects.map(({ size, times }) => {
        const samples = times.get(operation) ?? [];
        return [
          operation,
          count(size),
          ms(median(samples)),
          ms(quantile(samples, 0.99)),
          String(samples.length),
        ];
      }),
    ),
  );
}

/** What whole cycles of new sessions take there: of the server, and of this process. */
async function tellCosts(subjects: readonly Subject[], cycles: number, report: Report): Promise<void> {
  const rows: string[][] = [];
  for (const { size, url, ledger } of subjects) {
    await ledger.cycle(cycles / 10);
    const [before, began, used] = [await serverCost(url), performance.now(), process.cpuUsage()];
    await ledger.cycle(cycles);
    const { user, system } = process.cpuUsage(used);
    const took = performance.now() - began;
    rows.push(
      costRow(size, { ...costBetween(before, await serverCost(url)), cycles, took, own: user + system }),
    );
  }
  report.table(
    "A long history: what a cycle costs, 16 at once",
    ["ledger", "cycles/s", "our CPU ms", "server CPU ms", "bytes logged", "transactions"],
    rows,
  );
}

function costRow(
  size: Size,
  cost: ServerCost & { readonly cycles: number; readonly took: number; readonly own: number },
): string[] {
  const { cycles, took, own, seconds: server, walBytes, transactions } = cost;
  return [
    count(size),
    ((1_000 * cycles) / took).toFixed(0),
    (own / 1_000 / cycles).toFixed(2),
    server === undefined ? "–" : ((1_000 * server) / cycles).toFixed(2),
    Math.round(walBytes / cycles).toLocaleString("en"),
    (transactions / cycles).toFixed(1),
  ];
}

function count({ decided, pending }: Size): string {
  return `${decided.toLocaleString("en")} decided and ${pending.toLocaleString("en")} pending`;
}

function ms(value: number): string {
  return value.toFixed(1);
}

function seconds(value: number): string {
  return (value / 1_000).toFixed(0);
}
