import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contendersOn, type Store } from "./contender.ts";
import { ContenderProcess } from "./contender-process.ts";
import type { Report } from "./report.ts";
import type { Traced } from "./statement-trace.ts";

const STORE: Store = "sqlite";
const BYTES_CYCLES = 60;
const FEW_CYCLES = 50;
const MANY_CYCLES = 350;

/** What one cycle costs in statements, transactions, syncs and bytes, and whether the floor pays the same. */
export async function measureCost(folder: string, report: Report): Promise<void> {
  const rows: string[][] = [];
  const traces = new Map<string, readonly Traced[]>();
  for (const name of Object.keys(contendersOn(STORE))) {
    report.progress(`cost/${name}`);
    const trace = await inProcess(name, join(folder, `trace-${name}.db`), (process) =>
      process.run({ kind: "trace" }),
    );
    const bytes = await inProcess(name, join(folder, `bytes-${name}.db`), (process) =>
      process.run({ kind: "bytes", cycles: BYTES_CYCLES }),
    );
    traces.set(name, trace);
    rows.push([
      name,
      String(trace.length),
      String(trace.filter(({ sql }) => sql === "commit").length),
      String(syncedCommits(trace)),
      fsyncsPerCycle(name, folder)?.toFixed(2) ?? "no strace",
      Math.round(boundBytes(trace)).toLocaleString("en"),
      Math.round(bytes.database).toLocaleString("en"),
      Math.round(bytes.log).toLocaleString("en"),
    ]);
  }
  report.table(
    `Cost of one cycle (${STORE})`,
    ["contender", "statements", "commits", "synced", "fsyncs", "bytes bound", "bytes kept", "bytes logged"],
    rows,
  );
  const differences = compare(traces.get("engine") ?? [], traces.get("floor") ?? []);
  for (const difference of differences) report.progress(`cost: ${difference}`);
  report.goal(
    "the floor runs the statements that the store runs, with as many bytes",
    differences[0] ?? "the same",
    differences.length === 0 ? "met" : "missed",
  );
}

async function inProcess<T>(
  name: string,
  file: string,
  use: (process: ContenderProcess) => Promise<T>,
): Promise<T> {
  const process = new ContenderProcess(name, { store: STORE, file });
  try {
    return await use(process);
  } finally {
    await process.stop();
  }
}

// By default a connection is not syncing, and the trace begins after a whole cycle.
function syncedCommits(trace: readonly Traced[]): number {
  let syncing = false;
  let synced = 0;
  for (const { sql } of trace) {
    if (sql.startsWith("pragma synchronous")) syncing = sql.endsWith("full");
    if (sql === "commit" && syncing) synced += 1;
  }
  return synced;
}

/** Counted by the system, checkpoints included: many cycles against few, so that opening cancels out. */
function fsyncsPerCycle(name: string, folder: string): number | undefined {
  const few = fsyncs(name, folder, FEW_CYCLES);
  const many = fsyncs(name, folder, MANY_CYCLES);
  return few === undefined || many === undefined ? undefined : (many - few) / (MANY_CYCLES - FEW_CYCLES);
}

function fsyncs(name: string, folder: string, cycles: number): number | undefined {
  const output = join(folder, `strace-${name}-${cycles}.txt`);
  const worker = [fileURLToPath(new URL("./worker.ts", import.meta.url)), name, STORE];
  const database = join(folder, `strace-${name}-${cycles}.db`);
  const strace = [
    "-f",
    "-qq",
    "-e",
    "trace=fsync,fdatasync",
    "-e",
    "signal=none",
    "-o",
    output,
    process.execPath,
  ];
  const { status } = spawnSync("strace", [...strace, ...worker, database, "--cycles", String(cycles)]);
  if (status !== 0) return undefined;
  return readFileSync(output, "utf8")
    .split("\n")
    .filter((line) => /f(data)?sync\(/.test(line)).length;
}

/** What the statements were given, in all. */
export function boundBytes(trace: readonly Traced[]): number {
  return trace.reduce(
    (sum, { values }) => sum + values.reduce<number>((part, value) => part + byteLength(value), 0),
    0,
  );
}

function byteLength(value: Traced["values"][number]): number {
  if (value === null) return 0;
  return ArrayBuffer.isView(value) ? value.byteLength : Buffer.byteLength(String(value));
}

/** Where two cycles differ; ids, hashes and times differ in value but not in length. */
export function compare(engine: readonly Traced[], floor: readonly Traced[]): readonly string[] {
  if (engine.length !== floor.length) {
    const missing = without(engine, floor).map((sql) => `only the store: ${sql}`);
    const surplus = without(floor, engine).map((sql) => `only the floor: ${sql}`);
    return [`${engine.length} statements against ${floor.length}`, ...missing, ...surplus];
  }
  return engine.flatMap(({ sql, values }, place) => {
    const other = floor[place];
    if (other === undefined || other.sql !== sql) return [`statement ${place + 1}: ${sql}`];
    const ours = values.map(byteLength).join(" ");
    const theirs = other.values.map(byteLength).join(" ");
    return ours === theirs ? [] : [`statement ${place + 1} binds ${ours} bytes against ${theirs}: ${sql}`];
  });
}

function without(trace: readonly Traced[], other: readonly Traced[]): readonly string[] {
  const left = other.map(({ sql }) => sql);
  return trace.flatMap(({ sql }) => {
    const place = left.indexOf(sql);
    if (place === -1) return [sql];
    left.splice(place, 1);
    return [];
  });
}
