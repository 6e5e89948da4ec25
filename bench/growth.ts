import { Engine, type Ledger } from "../src/engine/index.ts";
import { loadedPending, loadedSession, loadHistory, loadPending } from "./bulk-load.ts";
import { openLedger, ScriptedAgent } from "./contenders/engine.ts";
import { IN_GROUPS } from "./in-groups.ts";
import { TOOL } from "./scenario.ts";

/** What grows, to which sizes, and how often each is looked at. */
export interface GrowthPlan {
  readonly what: "history" | "pending";
  readonly sizes: readonly number[];
  readonly samples: number;
  readonly warmUp: number;
}

/** Microseconds of every sample, by size. */
export interface Series {
  readonly name: string;
  readonly bySize: readonly { readonly size: number; readonly us: readonly number[] }[];
}

export interface Growth {
  readonly series: readonly Series[];
  /** How long it took to fill the ledgers, by size. */
  readonly loadMs: readonly number[];
}

/** An engine on a filled ledger, and its ways to take a sample. */
interface Subject {
  readonly size: number;
  readonly samplers: { readonly [series: string]: () => Promise<number> };
  close(): Promise<void>;
}

const EVENTS_PER_CYCLE = 6;
const PAGE_LIMIT = 50;

/**
 * All sizes in one process, sample by sample in turn: they share compiled code, and whatever slows the machine
 * down slows all of them.
 */
export async function measureGrowth(plan: GrowthPlan, file: string): Promise<Growth> {
  const subjects: Subject[] = [];
  const loadMs: number[] = [];
  for (const size of plan.sizes) {
    const began = performance.now();
    subjects.push(await openSubject(plan, size, `${file}-${size}`));
    loadMs.push(performance.now() - began);
  }
  const series = await sample(plan, subjects);
  for (const subject of subjects) await subject.close();
  return { series, loadMs };
}

async function sample(
  { samples, warmUp }: GrowthPlan,
  subjects: readonly Subject[],
): Promise<readonly Series[]> {
  const taken = subjects.flatMap(({ size, samplers }) =>
    Object.entries(samplers).map(([name, take]) => ({ size, name, take, us: [] as number[] })),
  );
  for (let round = -warmUp; round < samples; round += 1) {
    for (let turn = 0; turn < taken.length; turn += 1) {
      const one = taken[(turn + Math.abs(round)) % taken.length];
      const us = await one?.take();
      if (round >= 0 && us !== undefined) one?.us.push(us);
    }
  }
  const bySeries = Object.groupBy(taken, ({ name }) => name);
  return Object.entries(bySeries).map(([name, bySize = []]) => ({
    name,
    bySize: bySize.map(({ size, us }) => ({ size, us })),
  }));
}

async function openSubject(plan: GrowthPlan, size: number, file: string): Promise<Subject> {
  const rounds = plan.samples + plan.warmUp;
  if (plan.what === "pending") {
    await loadPending(file, size);
    return pendingSubject(size, await openTimed(file));
  }
  // Each sample adds events: enough sessions that none grows by more than a tenth.
  const perSession = Math.max(1, Math.floor(size / 10 / EVENTS_PER_CYCLE));
  const sessions = Math.ceil(rounds / perSession);
  await loadHistory(file, size, sessions);
  return historySubject(size, sessions, await openTimed(file));
}

/** An agent that knows when its tool's body was last entered. */
interface Timed {
  readonly ledger: Ledger;
  readonly agent: ScriptedAgent;
  decide(asked: { readonly confirmation: string; readonly frame: string }): Promise<number>;
  close(): Promise<void>;
}

async function openTimed(file: string): Promise<Timed> {
  const ledger = await openLedger("sqlite", file);
  let entered = 0;
  const agent = new ScriptedAgent(new Engine({ ledger, hostName: "bench" }), ({ amount }) => {
    entered = performance.now();
    return { ok: true, amount };
  });
  return {
    ledger,
    agent,
    async decide({ confirmation, frame }) {
      const before = entered;
      const began = performance.now();
      await agent.approve(confirmation, frame);
      if (entered === before) throw new Error("The body was not entered.");
      return (entered - began) * 1_000;
    },
    close: () => agent.engine.close(),
  };
}

function historySubject(size: number, sessions: number, timed: Timed): Subject {
  let next = 0;
  const decision = async (): Promise<number> => {
    const { confirmation, frame } = await timed.agent.ask(loadedSession(next++ % sessions));
    return timed.decide({ confirmation, frame: frame.id });
  };
  return { size, samplers: { decision }, close: () => timed.close() };
}

function pendingSubject(size: number, timed: Timed): Subject {
  const { agent, ledger } = timed;
  const replaced = new Map<number, { readonly confirmation: string; readonly frame: string }>();
  let count = 0;
  const ask = async (): Promise<{ readonly confirmation: string; readonly frame: string }> => {
    count += 1;
    const { confirmation, frame } = await agent.ask(`fresh-${count}`);
    return { confirmation, frame: frame.id };
  };
  return {
    size,
    samplers: {
      "decision on the newest": async () => timed.decide(await ask()),
      // Any of those that wait, wherever its rows lie; another is asked for in its place.
      "decision on any": async () => {
        const place = Math.floor(Math.random() * size);
        const us = await timed.decide(replaced.get(place) ?? loadedPending(place));
        replaced.set(place, await ask());
        return us;
      },
      "inbox page": () => readPage(ledger, { tool: TOOL }),
      "inbox page of a person in 20 groups": () => readPage(ledger, { viewers: IN_GROUPS }),
    },
    close: () => timed.close(),
  };
}

async function readPage(
  ledger: Ledger,
  filter: { readonly tool: string } | { readonly viewers: readonly string[] },
): Promise<number> {
  const began = performance.now();
  const page = await ledger.confirmations({ state: "open", ...filter }, { limit: PAGE_LIMIT });
  const us = (performance.now() - began) * 1_000;
  if (page.items.length === 0) throw new Error("The inbox page was empty.");
  return us;
}
