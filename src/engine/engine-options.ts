import type { Clock, NewId, Trace } from "./common/index.ts";
import type { Policy, PolicySource } from "./gate/index.ts";
import type { Ledger } from "./ledger/index.ts";
import { DEFAULT_SETTINGS, type EngineSettings } from "./parts.ts";
import type { LedgerNotice } from "./process/index.ts";
import type { QuotaLimits } from "./questions/index.ts";

/** Options of an engine. Only the ledger is required. */
export interface EngineOptions extends Partial<EngineSettings> {
  readonly ledger: Ledger;
  readonly clock?: Clock;
  readonly newId?: NewId;
  /** Signs decisions and keys the journal's chain. All processes of one ledger must have the same secret. */
  readonly secret?: string;
  /** A name for this process that people are shown. */
  readonly hostName?: string;
  /**
   * Called for errors that no caller waits for: the end of a call that cannot be stored. Default: a process warning.
   */
  readonly onError?: (error: unknown) => void;
  /** Called when the ledger has lost something that it had acknowledged. Default: a process warning. */
  readonly onNotice?: (notice: LedgerNotice) => void;
  /** What all sessions of the ledger may use together. Default: no limit. */
  readonly quota?: QuotaLimits;
  /** Rules over all calls of this engine, from every entry point. */
  readonly policy?: Policy | PolicySource;
  /** Called around decisions, claims, tools and models, for tracing. */
  readonly trace?: Trace;
}

/** The given limits, with defaults for the others. */
export function settingsOf(options: Partial<EngineSettings>): EngineSettings {
  const names = Object.keys(DEFAULT_SETTINGS) as (keyof EngineSettings)[];
  const settings = names.map((name) => [name, options[name] ?? DEFAULT_SETTINGS[name]]);
  return Object.fromEntries(settings) as EngineSettings;
}

export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

export function warnOf({ message, details }: LedgerNotice): void {
  process.emitWarning(`Countersign: ${message} ${JSON.stringify(details)}`);
}

/** Runs until it succeeds once; after that it does nothing. */
export function onceDone(work: () => Promise<void>): () => Promise<void> | undefined {
  let done = false;
  return () => {
    if (done) return undefined;
    return work().then(() => {
      done = true;
    });
  };
}
