import { median } from "../statistics.ts";
import {
  type Cycles,
  type Growth,
  hasOwnStore,
  isPeer,
  OURS,
  type PeerResults,
  type Safety,
} from "./results.ts";

/** A goal of this package, and what the run found. */
export interface Goal {
  readonly claim: string;
  readonly found: string;
  readonly met: boolean;
}

const TIMES_A_FRAMEWORK = 10;
const MOST_GROWTH = 1.3;
const KIB = 1_024;
/** A paused session that is nowhere but in the ledger leaves no more than this behind. */
const NEXT_TO_NOTHING_KIB = 1;

/** Every goal that the run says something about. */
export function goalsOf(results: PeerResults): readonly Goal[] {
  const { W1, W4, W5, W6, W7 } = results;
  return [
    ...(W1 === undefined ? [] : [aheadOfAll("in memory", W1)]),
    ...onDisk(results),
    ...Object.entries(W4 ?? {}).map(([store, growth]) => flat(store, growth)),
    ...(W6 === undefined
      ? []
      : [lightest("50 turns of 1 call", W6.seq), lightest("1 turn of 50 calls", W6.par)]),
    ...(W5 === undefined ? [] : safe(W5)),
    ...(W7 === undefined ? [] : [weightless(W7)]),
  ];
}

function onDisk({ W2, W3, W3c, W3d }: PeerResults): readonly Goal[] {
  const places = {
    "on SQLite": W2,
    "on PostgreSQL": W3,
    "on PostgreSQL, 8 in flight": W3c,
    "on PostgreSQL, 64 in flight": W3d,
  };
  return Object.entries(places).flatMap(([where, cycles]) =>
    cycles === undefined || !(OURS in cycles.rates)
      ? []
      : [aheadOfAll(where, cycles), ...aheadOfFrameworks(where, cycles)],
  );
}

function aheadOfAll(where: string, { rates }: Cycles): Goal {
  const [best, ratio] = against(rates, isPeer);
  return {
    claim: `full cycle ${where}: ahead of every contender`,
    found: `${ratio.toFixed(2)} times the rate of ${best}`,
    met: ratio > 1,
  };
}

function aheadOfFrameworks(where: string, { rates }: Cycles): readonly Goal[] {
  if (!Object.keys(rates).some(hasOwnStore)) return [];
  const [best, ratio] = against(rates, hasOwnStore);
  return [
    {
      claim: `full cycle ${where}: at least ${TIMES_A_FRAMEWORK} times the fastest framework with a store of its own`,
      found: `${ratio.toFixed(1)} times the rate of ${best}`,
      met: ratio >= TIMES_A_FRAMEWORK,
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
    claim: `ungated call, ${how}: less overhead than every peer`,
    found: `${(ours / median(theirs)).toFixed(2)} times that of ${name}`,
    met: ours < median(theirs),
  };
}

function safe(results: NonNullable<PeerResults["W5"]>): readonly Goal[] {
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

/** Did the tool run exactly once, however often and from wherever it was approved? */
export function isOnce(safety: Safety): boolean {
  const { simultaneous, staggered, replay, twoProcesses = [], twoProcessesStaggered = [], crash } = safety;
  const runs = [...simultaneous, ...staggered, ...twoProcesses, ...twoProcessesStaggered];
  const killed = crash === undefined || crash.executions === 1;
  return safety.error === undefined && killed && runs.every((n) => n === 1) && replay.every((n) => n === 0);
}

function weightless(results: NonNullable<PeerResults["W7"]>): Goal {
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
