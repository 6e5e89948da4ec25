import { median } from "../statistics.ts";
import { type Cycles, type Growth, isPeer, OURS, type PeerResults, type Safety } from "./results.ts";

/** A goal of this package, and what the run found. */
export interface Goal {
  readonly claim: string;
  readonly found: string;
  readonly met: boolean;
}

const MOST_GROWTH = 1.3;
const KIB = 1_024;
/** A paused session that is nowhere but in the ledger leaves no more than this behind. */
const NEXT_TO_NOTHING_KIB = 0.1;

type Workload = "memory" | "sqlite1" | "sqlite8" | "sqlite64" | "postgres1" | "postgres8" | "postgres64";

/** How fast a full cycle must be, as a multiple of a contender's rate; without a name: of the fastest. */
const RATES: readonly (readonly [Workload, string, number, string?])[] = [
  ["memory", "in memory", 1],
  ["sqlite1", "on SQLite, 1 in flight", 0.9, "aisdk-synced"],
  ["sqlite8", "on SQLite, 8 in flight", 1.2, "aisdk-synced"],
  ["sqlite64", "on SQLite, 64 in flight", 1.2, "aisdk-synced"],
  ["sqlite8", "on SQLite, 8 in flight", 0.7, "aisdk"],
  ["sqlite64", "on SQLite, 64 in flight", 0.7, "aisdk"],
  ["postgres1", "on PostgreSQL, 1 in flight", 0.6, "aisdk"],
  ["postgres8", "on PostgreSQL, 8 in flight", 1, "aisdk"],
  ["postgres64", "on PostgreSQL, 64 in flight", 1.8, "aisdk"],
  ["memory", "in memory", 10, "langgraph"],
  ["sqlite1", "on SQLite, 1 in flight", 5, "langgraph"],
  ["postgres1", "on PostgreSQL, 1 in flight", 6, "langgraph"],
  ["postgres8", "on PostgreSQL, 8 in flight", 10, "langgraph"],
  ["postgres64", "on PostgreSQL, 64 in flight", 10, "langgraph"],
];

/** Every goal that the run says something about. */
export function goalsOf(results: PeerResults): readonly Goal[] {
  const { growth, safety, ungated, paused } = results;
  return [
    ...RATES.flatMap(([workload, where, least, peer]) =>
      fastEnough(results[workload], { where, least, peer }),
    ),
    ...Object.entries(growth ?? {}).map(([store, grown]) => flat(store, grown)),
    ...(ungated === undefined
      ? []
      : [lightest("50 turns of 1 call", ungated.seq), lightest("1 turn of 50 calls", ungated.par)]),
    ...(safety === undefined ? [] : safe(safety)),
    ...(paused === undefined ? [] : [weightless(paused)]),
  ];
}

interface RateGoal {
  readonly where: string;
  readonly least: number;
  readonly peer: string | undefined;
}

function fastEnough(cycles: Cycles | undefined, { where, least, peer }: RateGoal): readonly Goal[] {
  if (cycles === undefined || (cycles.rates[OURS] ?? []).length === 0) return [];
  if (peer !== undefined && (cycles.rates[peer] ?? []).length === 0) return [];
  const [name, ratio] = against(cycles.rates, peer === undefined ? isPeer : (each) => each === peer);
  return [
    {
      claim: `full cycle ${where}: at least ${least} times the rate of ${peer ?? "the fastest contender"}`,
      found: `${ratio.toFixed(2)} times the rate of ${name}`,
      met: ratio >= least,
    },
  ];
}

type Samples = { readonly [contender: string]: readonly number[] };

/** The fastest of them, and our rate over theirs, taken round by round. */
function against(rates: Samples, counts: (contender: string) => boolean): readonly [string, number] {
  const ours = rates[OURS] ?? [];
  const others = Object.entries(rates).filter(([name, samples]) => counts(name) && samples.length > 0);
  const [name = "nobody", theirs = []] =
    others.toSorted(([, one], [, other]) => median(other) - median(one))[0] ?? [];
  return [name, median(ours.map((rate, round) => rate / (theirs[round] ?? Number.NaN)))];
}

function flat(store: string, { toTool }: Growth): Goal {
  const sizes = Object.keys(toTool[OURS] ?? {}).toSorted((one, other) => Number(one) - Number(other));
  const [least = "", most = ""] = [sizes[0], sizes.at(-1)];
  const growth = median(toTool[OURS]?.[most] ?? []) / median(toTool[OURS]?.[least] ?? []);
  return {
    claim: `decision to tool, ${store}: at most ${MOST_GROWTH} times as long at ${count(most)} events as at ${count(least)}`,
    found: `${growth.toFixed(2)} times`,
    met: growth <= MOST_GROWTH,
  };
}

function lightest(how: string, samples: Samples): Goal {
  const ours = median(samples[OURS] ?? []);
  const peers = Object.entries(samples).filter(([name, taken]) => isPeer(name) && taken.length > 0);
  const [name = "nobody", theirs = []] =
    peers.toSorted(([, one], [, other]) => median(one) - median(other))[0] ?? [];
  return {
    claim: `ungated call, ${how}: no more overhead than the cheapest peer`,
    found: `${(ours / median(theirs)).toFixed(2)} times that of ${name}`,
    met: ours <= median(theirs),
  };
}

function safe(results: NonNullable<PeerResults["safety"]>): readonly Goal[] {
  const ours = Object.entries(results[OURS] ?? {});
  const wrong = ours.filter(([, safety]) => !isOnce(safety)).map(([store]) => store);
  const told = ours.flatMap(([, { crash }]) => (crash?.answer === undefined ? [] : [crash.answer]));
  return [
    {
      claim: "safety: one execution for one approval, in every row",
      found: wrong.length === 0 ? "one" : `not in ${wrong.join(", ")}`,
      met: ours.length > 0 && wrong.length === 0,
    },
    {
      claim: "safety: after a kill inside the tool somebody is told",
      found: told[0] ?? "nothing",
      met: told.length > 0 && told.every((answer) => answer.includes("unknown")),
    },
  ];
}

/** Did the tool run once and no more, however often and from wherever it was approved? */
export function isOnce(safety: Safety): boolean {
  const { simultaneous, staggered, replay, twoProcesses = [], twoProcessesStaggered = [], crash } = safety;
  const runs = [...simultaneous, ...staggered, ...twoProcesses, ...twoProcessesStaggered];
  const killed = crash === undefined || crash.executions === 1;
  return safety.error === undefined && killed && runs.every((n) => n === 1) && replay.every((n) => n === 0);
}

function weightless(results: NonNullable<PeerResults["paused"]>): Goal {
  const kib = heapKib(results[OURS] ?? {});
  return {
    claim: `a paused session leaves next to nothing on the heap (at most ${NEXT_TO_NOTHING_KIB} KiB)`,
    found: `${kib.toFixed(2)} KiB`,
    met: kib <= NEXT_TO_NOTHING_KIB,
  };
}

/** Live heap that one paused session takes. */
export function heapKib({
  heap0 = Number.NaN,
  heap1 = Number.NaN,
  n = Number.NaN,
}: {
  readonly heap0?: number;
  readonly heap1?: number;
  readonly n?: number;
}): number {
  return (heap1 - heap0) / n / KIB;
}

function count(events: string): string {
  return Number(events).toLocaleString("en");
}
