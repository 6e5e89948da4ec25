import { parseArgs } from "node:util";

export const WORKLOADS = [
  "cycle",
  "cost",
  "policy",
  "growth",
  "postgres",
  "load",
  "full",
  "viewers",
  "notices",
] as const;
export type Workload = (typeof WORKLOADS)[number];

export interface Options {
  readonly workloads: readonly Workload[];
  readonly rounds: number;
  readonly batchMs: number;
  readonly warmUpMs: number;
  readonly quick: boolean;
  /** For how long each ledger of "load" is decided on. */
  readonly loadSeconds: number;
  /** Of the large ledger of "full": how many questions were decided, and how many wait. */
  readonly decided: number;
  readonly pending: number;
  /** Of "viewers": how many inboxes are open, how many decisions there are a second, and how many servers. */
  readonly viewers: number;
  readonly rate: number;
  readonly replicas: number;
  /** The page that is written and kept; undefined if none is. */
  readonly keep: "RESULTS.md" | "LOAD.md" | "FULL.md" | undefined;
}

export const HELP = `Usage: npm run bench -- [options]

  --only cycle,cost,policy,growth,postgres   what to measure (default: all of these); "load", "full", "viewers" and "notices" only if named
  --rounds 15                interleaved rounds of "cycle"; samples of "growth" are 30 times as many
  --quick                    a check that it works: short, hardly warm, 100,000 instead of 1,000,000; do not quote
  --seconds 120              how long "load" decides, for each of its ledgers
  --decided 1000000          how many were decided in the large ledger of "full"
  --pending 100000           how many wait there (default: a tenth as many)
  --viewers 1000 --rate 100 --replicas 3   of "viewers": open inboxes, decisions a second, servers
  --keep                     write bench/RESULTS.md too, of "load" or "full" alone LOAD.md or FULL.md
  --help
`;

/** Undefined when help was asked for. Throws for what it does not know. */
export function parseOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      rounds: { type: "string" },
      seconds: { type: "string" },
      decided: { type: "string" },
      pending: { type: "string" },
      viewers: { type: "string" },
      rate: { type: "string" },
      replicas: { type: "string" },
      quick: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const { quick } = values;
  const workloads = values.only === undefined ? USUAL : values.only.split(",").map(toWorkload);
  const rounds = toCount("rounds", values.rounds ?? (quick ? "3" : "15"));
  const loadSeconds = toCount("seconds", values.seconds ?? (quick ? "6" : "120"));
  const decided = toCount("decided", values.decided ?? (quick ? "50000" : "1000000"));
  const pending = toCount("pending", values.pending ?? String(Math.max(2_000, Math.ceil(decided / 10))));
  const keep = values.keep ? pageOf(workloads, quick) : undefined;
  return {
    workloads,
    rounds,
    quick,
    keep,
    loadSeconds,
    decided,
    pending,
    ...watchingOf(values),
    ...(quick ? QUICK : WHOLE),
  };
}

/** A million rows are not for every day. */
const LARGE = { load: "LOAD.md", full: "FULL.md" } as const;
const USUAL: readonly Workload[] = WORKLOADS.filter(
  (workload) => !(workload in LARGE) && workload !== "viewers" && workload !== "notices",
);

function pageOf(workloads: readonly Workload[], quick: boolean): NonNullable<Options["keep"]> {
  const [only = ""] = workloads;
  if (!quick && workloads.length === 1 && only in LARGE) return LARGE[only as keyof typeof LARGE];
  if (!quick && USUAL.every((workload) => workloads.includes(workload))) return "RESULTS.md";
  throw new Error('--keep needs a whole run: leave --quick out, and --only too or make it "load" or "full".');
}

function watchingOf({
  quick,
  viewers = quick ? "50" : "1000",
  rate = quick ? "10" : "100",
  replicas = quick ? "1" : "3",
}: {
  readonly quick: boolean;
  readonly viewers?: string | undefined;
  readonly rate?: string | undefined;
  readonly replicas?: string | undefined;
}): Pick<Options, "viewers" | "rate" | "replicas"> {
  return {
    viewers: toCount("viewers", viewers),
    rate: toCount("rate", rate),
    replicas: toCount("replicas", replicas),
  };
}

const QUICK = { batchMs: 200, warmUpMs: 300 } as const;
const WHOLE = { batchMs: 500, warmUpMs: 4_000 } as const;

function toCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} is "${text}"; give a whole number.`);
  return count;
}

function toWorkload(name: string): Workload {
  const known = WORKLOADS.find((workload) => workload === name.trim());
  if (known === undefined)
    throw new Error(`--only does not know "${name}"; it knows ${WORKLOADS.join(", ")}.`);
  return known;
}
