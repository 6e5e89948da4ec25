import {
  type Decider,
  type Engine,
  partsOf,
  type RetentionRun,
  readProgress,
  runRetention,
} from "../engine/index.ts";
import { repeat } from "./repeat.ts";
import type { RetentionSettings } from "./rules-file.ts";

/** Told what a scheduled run did. */
export interface ScheduleListener {
  ran(run: RetentionRun): void;
  failed(error: unknown): void;
}

/**
 * Runs retention whenever it is due, if no other process does. When the last run ended is stored in the ledger, so any
 * number of servers make one run. Returns what stops it: the run then ends after its batch.
 */
export function scheduleRetention(
  engine: Engine,
  {
    settings,
    decider,
    listener,
  }: {
    readonly settings: RetentionSettings;
    readonly decider: Decider;
    readonly listener: ScheduleListener;
  },
): () => Promise<void> {
  const runIfDue = async (signal: AbortSignal): Promise<void> => {
    if (!(await isDue(engine, settings.everyMs))) return;
    const run = await runRetention(partsOf(engine), { rules: settings.rules, decider, signal });
    if (run.ended !== "elsewhere") listener.ran(run);
  };
  return repeat(partsOf(engine).clock, runIfDue, (error) => listener.failed(error));
}

async function isDue({ ledger }: Engine, everyMs: number): Promise<boolean> {
  const { cursor, finishedAt } = await readProgress(ledger);
  // A run that was not finished goes on at once. A time ahead means that the clock was set back.
  if (cursor !== undefined || finishedAt === undefined) return true;
  return ledger.now >= finishedAt + everyMs || finishedAt > ledger.now;
}
