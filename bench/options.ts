import { parseArgs } from "node:util";

export const WORKLOADS = ["cycle", "cost", "growth"] as const;
export type Workload = (typeof WORKLOADS)[number];

export interface Options {
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly batchMs: number;
  readonly warmUpMs: number;
  readonly quick: boolean;
  /** Write RESULTS.md, the page that is kept. */
  readonly keep: boolean;
}

export const HELP = `Usage: npm run bench -- [options]

  --only cycle,cost,growth   what to measure (default: all of it)
  --rounds 15                interleaved rounds of "cycle"; samples of "growth" are 30 times as many
  --quick                    a check that it works: short, hardly warm, 100,000 instead of 1,000,000; do not quote
  --keep                     write bench/RESULTS.md too
  --help
`;

/** Undefined when help was asked for. Throws for what it does not know. */
export function parseOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const { quick, keep } = values;
  const workloads = values.only === undefined ? WORKLOADS : values.only.split(",").map(toWorkload);
  if (keep && (quick || workloads.length < WORKLOADS.length)) {
    throw new Error("--keep needs a whole run: leave --quick and --only out.");
  }
  const rounds = toCount(values.rounds ?? (quick ? "3" : "15"));
  return { workloads, rounds, quick, keep, ...(quick ? QUICK : WHOLE) };
}

const QUICK = { batchMs: 200, warmUpMs: 300 } as const;
const WHOLE = { batchMs: 500, warmUpMs: 4_000 } as const;

function toCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--rounds is "${text}"; give a whole number.`);
  return count;
}

function toWorkload(name: string): Workload {
  const known = WORKLOADS.find((workload) => workload === name.trim());
  if (known === undefined)
    throw new Error(`--only does not know "${name}"; it knows ${WORKLOADS.join(", ")}.`);
  return known;
}
