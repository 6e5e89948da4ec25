import {
  type Decider,
  type Engine,
  partsOf,
  type RetentionRun,
  readProgress,
  runRetention,
} from "../engine/index.ts";
import type { RetentionSettings } from "./rules-file.ts";

/** Told what a scheduled run did. */
export interface ScheduleListener {
  ran(run: RetentionRun): void;
  failed(error: unknown): void;
}

/** How often it looks whether a run is due. */
const LOOK_MS = 10_000;

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
    lookMs = LOOK_MS,
  }: {
    readonly settings: RetentionSettings;
    readonly decider: Decider;
    readonly listener: ScheduleListener;
    readonly lookMs?: number;
  },
): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const { clock } = partsOf(engine);
  const runIfDue = async (): Promise<void> => {
    if (!(await isDue(engine, settings.everyMs))) return;
    const run = await runRetention(partsOf(engine), { rules: settings.rules, decider, signal });
    if (run.ended !== "elsewhere") listener.ran(run);
  };
  const looking = (async () => {
    while (!signal.aborted) {
      await runIfDue().catch((error: unknown) => listener.failed(error));
      await clock.sleepInBackground(lookMs, signal);
    }
  })();
  return async () => {
    stop.abort();
    await looking;
  };
}

async function isDue({ ledger }: Engine, everyMs: number): Promise<boolean> {
  const { cursor, finishedAt } = await readProgress(ledger);
  // A run that was not finished goes on at once. A time ahead means that the clock was set back.
  if (cursor !== undefined || finishedAt === undefined) return true;
  return ledger.now >= finishedAt + everyMs || finishedAt > ledger.now;
}
