import { join } from "node:path";
import { CONTENDERS, STORES, type Store } from "./contender.ts";
import { ContenderProcess } from "./contender-process.ts";
import type { Options } from "./options.ts";
import type { Report } from "./report.ts";
import { median, pairedRatio, quantile } from "./statistics.ts";
import type { Batch } from "./worker.ts";

const BASE = "floor";
const GOAL = 0.6;

/** Of four fifths of the rounds, as a part of the median. */
const LARGEST_SPREAD = 0.3;

/** Cycles per second and CPU per cycle, every contender on every store, as parts of the floor. */
export async function measureCycle(options: Options, folder: string, report: Report): Promise<void> {
  const rows: string[][] = [];
  for (const store of STORES) {
    const processes = Object.keys(CONTENDERS).map(
      (name) => new ContenderProcess(name, { store, file: join(folder, `cycle-${store}-${name}.db`) }),
    );
    try {
      const batches = await interleave(processes, options, (line) =>
        report.progress(`cycle/${store} ${line}`),
      );
      rows.push(...storeRows(store, batches, report));
    } finally {
      for (const process of processes) await process.stop();
    }
  }
  report.table(
    "Cycle: message, pause, decision, tool, result, final event",
    ["store", "contender", "rate / floor", "CPU / floor", "cycles/s", "CPU µs per cycle", "rounds within"],
    rows,
  );
}

async function interleave(
  processes: readonly ContenderProcess[],
  { rounds, batchMs, warmUpMs }: Options,
  progress: (line: string) => void,
): Promise<ReadonlyMap<string, readonly Batch[]>> {
  const batches = new Map(processes.map(({ name }): [string, Batch[]] => [name, []]));
  progress("warms up");
  for (const process of processes) await process.run({ kind: "batch", ms: warmUpMs });
  for (let round = 0; round < rounds; round += 1) {
    progress(`round ${round + 1} of ${rounds}`);
    for (let turn = 0; turn < processes.length; turn += 1) {
      const process = processes[(turn + round) % processes.length];
      if (process === undefined) continue;
      batches.get(process.name)?.push(await process.run({ kind: "batch", ms: batchMs }));
    }
  }
  return batches;
}

function storeRows(store: Store, batches: ReadonlyMap<string, readonly Batch[]>, report: Report): string[][] {
  const rates = (name: string): number[] =>
    (batches.get(name) ?? []).map(({ cycles, ms }) => (cycles / ms) * 1_000);
  const cpu = (name: string): number[] =>
    (batches.get(name) ?? []).map(({ cycles, cpuMs }) => (cpuMs / cycles) * 1_000);
  const ratio = pairedRatio(rates("engine"), rates(BASE));
  const byCpu = pairedRatio(cpu(BASE), cpu("engine"));
  const found = `${ratio.toFixed(2)}, by CPU time ${byCpu.toFixed(2)}`;
  // A busy machine can make a rate look good by chance, so it may spoil a success; it never excuses a miss.
  const steady = ratio <= 1 && [rates("engine"), rates(BASE)].every(isSteady);
  const verdict = ratio < GOAL ? "missed" : steady ? "met" : "not shown";
  report.goal(`engine on ${store}: at least ${GOAL} of the floor's rate`, found, verdict);
  return [...batches.keys()].map((name) => [
    store,
    name,
    pairedRatio(rates(name), rates(BASE)).toFixed(2),
    pairedRatio(cpu(name), cpu(BASE)).toFixed(2),
    Math.round(median(rates(name))).toLocaleString("en"),
    Math.round(median(cpu(name))).toLocaleString("en"),
    `${Math.round(quantile(rates(name), 0.1)).toLocaleString("en")}–${Math.round(quantile(rates(name), 0.9)).toLocaleString("en")}`,
  ]);
}

function isSteady(rates: readonly number[]): boolean {
  return quantile(rates, 0.9) - quantile(rates, 0.1) <= median(rates) * LARGEST_SPREAD;
}
