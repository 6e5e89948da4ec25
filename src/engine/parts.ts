import type { KnownSeal } from "./audit/index.ts";
import type { Executions } from "./calls/index.ts";
import type { Clock, NewId, Trace } from "./common/index.ts";
import type { Definitions, Policy } from "./gate/index.ts";
import type { Host } from "./host.ts";
import type { ChainHasher } from "./journal/index.ts";
import type { InFlight, Ledger, SessionQueue } from "./ledger/index.ts";
import type { AcknowledgedCommits, Lease, Unstored } from "./process/index.ts";

/** Limits and intervals; every one can be set, so that tests need not wait. */
export interface EngineSettings {
  /** After this long without a heartbeat a process's claims are taken for lost. */
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** After so long without the ledger taking how a call ended, the process says so and is not ready. */
  readonly storeWithinMs: number;
  /** How long `close()` goes on offering the ledger what it does not take. */
  readonly closeWithinMs: number;
  /** How many confirmations one session may have open. */
  readonly maxOpen: number;
  /** How many questions one call may ask. */
  readonly maxRounds: number;
  /** After so many attempts that were lost with their processes a call is not run again, nor a model asked again. */
  readonly maxLostAttempts: number;
  /** How many bytes of JSON are kept of what a call or a step returns; of more, only that there was more. */
  readonly maxResultBytes: number;
  /** How many bytes of events one session may hold: each step of its agents reads them all. */
  readonly maxSessionBytes: number;
  /** How many bytes of JSON the state may have that a session sees. */
  readonly maxStateBytes: number;
}

export const DEFAULT_SETTINGS: EngineSettings = {
  leaseMs: 15_000,
  heartbeatMs: 5_000,
  storeWithinMs: 30_000,
  closeWithinMs: 10_000,
  maxOpen: 20,
  maxRounds: 20,
  maxLostAttempts: 5,
  maxResultBytes: 1_048_576,
  maxSessionBytes: 16 * 1_048_576,
  maxStateBytes: 1_048_576,
};

/** What every command of the engine works with. */
export interface EngineParts {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly hasher: ChainHasher;
  readonly knownSeal: KnownSeal;
  readonly secret?: string;
  /** Rules over all calls, from every entry point. */
  readonly policy?: Policy;
  readonly definitions: Definitions;
  readonly lease: Lease;
  readonly hosts: ReadonlyMap<string, Host>;
  readonly queue: SessionQueue;
  readonly inFlight: InFlight;
  readonly acknowledged: AcknowledgedCommits;
  readonly settings: EngineSettings;
  readonly trace: Trace;
  readonly unstored: Unstored;
  /** Aborts when the engine is being closed and has waited long enough for the ledger. */
  readonly gaveUp: AbortSignal;
  /** Aborts when the engine is closed. */
  readonly closed: AbortSignal;
  /** Resolves once the ledger is known to have been begun with our secret; asked before every command. */
  readonly ready: () => Promise<void> | undefined;
  /** What runs here; told of every draft that this process has committed. */
  readonly executions: Executions;
  /** Claims frames that are ready, and steps them here. */
  readonly takeUp: (frames: readonly string[]) => Promise<void>;
}
