import { openPostgresLedger } from "../../src/stores/postgres/index.ts";
import { type Filling, fillLedger } from "../../test/support/ledger/full-ledger.ts";
import { faultsOf, PLAN_CASES } from "../../test/support/postgres/plan-cases.ts";
import { explainAll, plansOf } from "../../test/support/postgres/plan-watch.ts";
import { execute, PostgresServer } from "../../test/support/postgres/server.ts";
import type { Options } from "../options.ts";
import { emptyLedger } from "../postgres.ts";
import type { Report } from "../report.ts";
import { median, pairedRatio, quantile } from "../statistics.ts";
import { toolDigest } from "./agent.ts";
import type { Memory } from "./server.ts";
import { type Slice, Subject } from "./subject.ts";

const FLAT = 1.3;
const SLICES = 8;
/** Until the code of both servers is compiled as it will be; on a machine that is slow, so many times at most. */
const WARM_UP_MS = 5_000;
const WARM_DECISIONS = 1_000;
const MOST_WARM_UPS = 10;
const MIB = 2 ** 20;
/** Of the live heap over the whole run: caches fill, and then no more. */
const MOST_GROWTH_MIB = 16;
/** A prepared statement is planned with its values five times; then a plan for all values is considered. */
const PLANNED_TIMES = 7;
const SETTINGS = ["shared_buffers=512MB", "max_wal_size=4GB", "maintenance_work_mem=256MB"];

interface Size {
  readonly pending: number;
  /** Of those, how many were asked by the server itself and are asked again when they were decided. */
  readonly inFlight: number;
}

/** Everything that was seen of one ledger. */
interface Seen {
  readonly size: Size;
  readonly slices: readonly Slice[];
  readonly memory: readonly Memory[];
}

/** Decisions at the rate that the machine gives, on a ledger with few pending and on one with very many, in turn. */
export async function measureLoad(options: Options, folder: string, report: Report): Promise<void> {
  const { quick, loadSeconds } = options;
  const sizes: readonly Size[] = [
    { pending: 1_000, inFlight: 1_000 },
    quick ? { pending: 100_000, inFlight: 2_000 } : { pending: 1_000_000, inFlight: 10_000 },
  ];
  const server = await PostgresServer.start(SETTINGS, folder);
  const progress = (line: string): void => report.progress(`load: ${line}`);
  try {
    const ledgers = [];
    for (const size of sizes) ledgers.push({ size, url: await fill(server, size, progress) });
    const seen = await decideOnAll(ledgers, { ms: (loadSeconds * 1_000) / SLICES, quick, progress });
    tell(seen, report);
    const fullest = ledgers.at(-1);
    if (fullest !== undefined) await judgePlans(fullest, report);
  } finally {
    await server.stop();
  }
}

type Progress = (line: string) => void;

async function fill(
  server: PostgresServer,
  { pending, inFlight }: Size,
  progress: Progress,
): Promise<string> {
  const url = await emptyLedger(server);
  const began = performance.now();
  if (pending > inFlight)
    await fillLedger(url, { pending: pending - inFlight, definitionDigest: toolDigest() });
  progress(`filled a ledger for ${pending.toLocaleString("en")} in ${seconds(performance.now() - began)} s`);
  return url;
}

async function decideOnAll(
  ledgers: readonly { readonly size: Size; readonly url: string }[],
  { ms, quick, progress }: { readonly ms: number; readonly quick: boolean; readonly progress: Progress },
): Promise<readonly Seen[]> {
  const subjects: Subject[] = [];
  const seen = ledgers.map(({ size }) => ({ size, slices: [] as Slice[], memory: [] as Memory[] }));
  try {
    for (const { size, url } of ledgers) {
      progress(
        `${size.inFlight.toLocaleString("en")} sessions begin on the ledger of ${size.pending.toLocaleString("en")}`,
      );
      subjects.push(
        await Subject.open(url, { inFlight: size.inFlight, loaded: size.pending - size.inFlight }),
      );
    }
    for (const subject of subjects) await warmUp(subject, quick ? 1 : MOST_WARM_UPS);
    for (let slice = 0; slice < SLICES; slice += 1) {
      for (const [place, subject] of subjects.entries()) {
        progress(`slice ${slice + 1} of ${SLICES} on the ledger of ${ledgers[place]?.size.pending}`);
        if (slice === 0) seen[place]?.memory.push(await subject.memory());
        seen[place]?.slices.push(await subject.decideFor(ms));
        seen[place]?.memory.push(await subject.memory());
      }
    }
  } finally {
    for (const subject of subjects) await subject.close();
  }
  return seen;
}

async function warmUp(subject: Subject, times: number): Promise<void> {
  let decisions = 0;
  for (let time = 0; time < times && decisions < WARM_DECISIONS; time += 1)
    decisions += (await subject.decideFor(WARM_UP_MS)).decisions;
}

const SERIES = {
  toTool: "decision to tool",
  toToolLoaded: "decision to tool, on any of those loaded",
  inbox: "first page of the inbox",
  toNews: "decision to live feed",
} as const satisfies { readonly [name in keyof Slice]?: string };

function tell(seen: readonly Seen[], report: Report): void {
  const [few, many] = seen;
  if (few === undefined || many === undefined) return;
  const names = Object.keys(SERIES) as (keyof typeof SERIES)[];
  for (const name of names.filter((series) => series !== "toToolLoaded")) {
    const medians = (of: Seen): number[] => of.slices.map((slice) => median(slice[name]));
    const ratio = pairedRatio(medians(many), medians(few));
    report.goal(
      `${SERIES[name]} with ${count(many)} pending: at most ${FLAT} times that with ${count(few)}`,
      ratio.toFixed(2),
      // Faster with more is what a busy machine makes of it.
      ratio > FLAT ? "missed" : ratio < 1 / FLAT ? "not shown" : "met",
    );
  }
  for (const one of seen) {
    const growth = ((one.memory.at(-1)?.heap ?? 0) - (one.memory[1]?.heap ?? 0)) / MIB;
    report.goal(
      `live heap of the server with ${count(one)} pending: grows by at most ${MOST_GROWTH_MIB} MiB`,
      `${growth.toFixed(1)} MiB`,
      growth <= MOST_GROWTH_MIB ? "met" : "missed",
    );
  }
  report.table(
    "Load: decisions as fast as they go (16 at once, over HTTP; each is followed by a new message)",
    ["pending", "sessions under way", "decisions/s", "decisions"],
    seen.map((one) => [count(one), one.size.inFlight.toLocaleString("en"), rate(one), total(one)]),
  );
  report.table(
    "Load: how long things take",
    ["measured", "pending", "p50 ms", "p99 ms", "samples"],
    names.flatMap((name) => seen.map((one) => seriesRow(name, one))).filter((row) => row.at(-1) !== "0"),
  );
  report.table(
    "Load: memory of the server, MiB",
    ["pending", "heap before", "heap after", "resident before", "resident after"],
    seen.map((one) => [count(one), ...memoryCells(one)]),
  );
}

function seriesRow(name: keyof typeof SERIES, one: Seen): string[] {
  const samples = one.slices.flatMap((slice) => slice[name]);
  const told = [0.5, 0.99].map((share) => quantile(samples, share).toFixed(1));
  return [SERIES[name], count(one), ...told, String(samples.length)];
}

function memoryCells({ memory }: Seen): string[] {
  const [first, last] = [memory[0], memory.at(-1)];
  return [first?.heap, last?.heap, first?.resident, last?.resident].map((bytes = 0) =>
    (bytes / MIB).toFixed(1),
  );
}

/** Nothing that is done again and again may look at more of the ledger because it is full. */
async function judgePlans(
  { url, size }: { readonly url: string; readonly size: Size },
  report: Report,
): Promise<void> {
  report.progress("load: looks at the plans of the full ledger");
  const filling: Filling = { pending: size.pending };
  const big = new Set(["documents", "log", "entries", "items"]);
  await execute(url, "analyze");
  await explainAll(url);
  const ledger = await openPostgresLedger({ url: `${url}?pool=1` });
  const faults: string[] = [];
  for (const one of PLAN_CASES) {
    const plans = await plansOf(async () => {
      for (let time = 0; time < PLANNED_TIMES; time += 1) await one.read(ledger, filling);
    });
    const found = plans.flatMap((plan) => faultsOf(plan, one.rows, big));
    faults.push(...found.map((fault) => `${one.name}: ${fault}`));
  }
  await ledger.close();
  for (const fault of new Set(faults)) report.progress(`load: ${fault}`);
  report.goal(
    `with ${size.pending.toLocaleString("en")} pending no statement reads more than it is asked for`,
    faults[0] ?? `${PLAN_CASES.length} cases`,
    faults.length === 0 ? "met" : "missed",
  );
}

function count({ size }: Seen): string {
  return size.pending.toLocaleString("en");
}

function rate({ slices }: Seen): string {
  const perSecond = slices.map(({ decisions, ms }) => (decisions / ms) * 1_000);
  return Math.round(median(perSecond)).toLocaleString("en");
}

function total({ slices }: Seen): string {
  return slices.reduce((sum, { decisions }) => sum + decisions, 0).toLocaleString("en");
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(0);
}
