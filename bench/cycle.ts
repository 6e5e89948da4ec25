import { join } from "node:path";
import { contendersOn, type Store } from "./contender.ts";
import { ContenderProcess } from "./contender-process.ts";
import type { Options } from "./options.ts";
import type { Report } from "./report.ts";
import { median, pairedRatio, pairedRatios, quantile } from "./statistics.ts";
import type { Batch } from "./worker.ts";

const BASE = "floor";
const STORES = ["memory", "sqlite", "sqlite-full"] as const satisfies readonly Store[];
const GOAL = 0.6;

/** The share of the rounds that have to reach a goal. */
const NEARLY_ALL = 0.9;

/** The columns of what {@link contest} gives. */
export const COLUMNS = [
  "store",
  "contender",
  "rate / floor",
  "CPU / floor",
  "cycles/s",
  "CPU µs per cycle",
  "rounds within",
] as const;

/** Where the contenders meet. */
export interface Arena {
  readonly name: string;
  readonly store: Store;
  /** How many sessions each has under way at once. */
  readonly inFlight: number;
  /** The part of the floor's rate that the engine is to reach. */
  readonly goal: number;
  /** Where a contender's ledger is. */
  readonly place: (contender: string) => string;
}

/** Cycles per second and CPU per cycle, every contender on every store of this process, as parts of the floor. */
export async function measureCycle(options: Options, folder: string, report: Report): Promise<void> {
  const rows: string[][] = [];
  for (const store of STORES) {
    const place = (name: string): string => join(folder, `cycle-${store}-${name}.db`);
    rows.push(...(await contest({ name: store, store, inFlight: 1, goal: GOAL, place }, options, report)));
  }
  report.table("Cycle: message, pause, decision, tool, result, final event", COLUMNS, rows);
}

/** All contenders of a store in turn, round by round. Gives a row for each, and judges the engine. */
export async function contest(arena: Arena, options: Options, report: Report): Promise<string[][]> {
  const { name: where, store, place } = arena;
  const processes = Object.keys(contendersOn(store)).map(
    (name) => new ContenderProcess(name, { store, file: place(name) }),
  );
  try {
    const batches = await interleave(processes, { ...options, ...arena }, (line) =>
      report.progress(`cycle/${where} ${line}`),
    );
    return toRows(arena, batches, report);
  } finally {
    for (const process of processes) await process.stop();
  }
}

async function interleave(
  processes: readonly ContenderProcess[],
  { rounds, batchMs, warmUpMs, inFlight }: Options & Arena,
  progress: (line: string) => void,
): Promise<ReadonlyMap<string, readonly Batch[]>> {
  const batches = new Map(processes.map(({ name }): [string, Batch[]] => [name, []]));
  progress("warms up");
  for (const process of processes) await process.run({ kind: "batch", ms: warmUpMs, inFlight });
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`);
    for (let turn = 0; turn < processes.length; turn += 1) {
      const process = processes[(turn + round) % processes.length];
      if (process === undefined) continue;
      batches.get(process.name)?.push(await process.run({ kind: "batch", ms: batchMs, inFlight }));
    }
  }
  return batches;
}

function toRows(
  { name: where, goal }: Arena,
  batches: ReadonlyMap<string, readonly Batch[]>,
  report: Report,
): string[][] {
  const rates = (name: string): number[] =>
    (batches.get(name) ?? []).map(({ cycles, ms }) => (cycles / ms) * 1_000);
  const cpu = (name: string): number[] =>
    (batches.get(name) ?? []).map(({ cycles, cpuMs }) => (cpuMs / cycles) * 1_000);
  const ratios = pairedRatios(rates("engine"), rates(BASE));
  const ratio = median(ratios);
  const byCpu = pairedRatio(cpu(BASE), cpu("engine"));
  const found = `${ratio.toFixed(2)}, by CPU time ${byCpu.toFixed(2)}`;
  // A busy machine can make a rate look good by chance, so it may spoil a success; it never excuses a miss.
  const steady = ratio <= 1 && quantile(ratios, 1 - NEARLY_ALL) >= goal;
  const verdict = ratio < goal ? "missed" : steady ? "met" : "not shown";
  report.goal(`engine on ${where}: at least ${goal} of the floor's rate`, found, verdict);
  return [...batches.keys()].map((name) => [
    where,
    name,
    pairedRatio(rates(name), rates(BASE)).toFixed(2),
    pairedRatio(cpu(name), cpu(BASE)).toFixed(2),
    Math.round(median(rates(name))).toLocaleString("en"),
    Math.round(median(cpu(name))).toLocaleString("en"),
    `${Math.round(quantile(rates(name), 0.1)).toLocaleString("en")}–${Math.round(quantile(rates(name), 0.9)).toLocaleString("en")}`,
  ]);
}
