import type { KnownSeal } from "./audit/index.ts";
import type { SlowChecks } from "./callers/index.ts";
import type { Executions } from "./calls/index.ts";
import type { Clock, NewId, Trace } from "./common/index.ts";
import type { Definitions, Policy, PolicySource, PolicyTexts } from "./gate/index.ts";
import type { Host } from "./host.ts";
import type { ChainHasher } from "./journal/index.ts";
import type { InFlight, Ledger, SessionQueue } from "./ledger/index.ts";
import type { Directory } from "./people/index.ts";
import type { AcknowledgedCommits, Lease, Unstored } from "./process/index.ts";
import type { Quota, UserOpenLimit } from "./questions/index.ts";

/** Limits and intervals. Each can be set, so that tests need not wait. */
export interface EngineSettings {
  /** After this long without a heartbeat, a process's claims count as lost. */
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** If the end of a call cannot be stored for this long, the process reports it and is not ready. */
  readonly storeWithinMs: number;
  /** How long `close()` keeps trying to store results. */
  readonly closeWithinMs: number;
  /** How many confirmations one session may have open. */
  readonly maxOpen: number;
  /** How many questions one call may ask. */
  readonly maxRounds: number;
  /**
   * After this many attempts that were lost with their processes, a call does not run again, and a model is not asked
   * again.
   */
  readonly maxLostAttempts: number;
  /** The largest result of a call or step that is stored, in bytes of JSON. Of a larger one only the size is stored. */
  readonly maxResultBytes: number;
  /** How many bytes of events one session may have: each step of its agents reads them all. */
  readonly maxSessionBytes: number;
  /** The largest state that a session may see, in bytes of JSON. */
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
  readonly policy?: Policy | PolicySource;
  /** What the policy knows about people. */
  readonly directory: Directory;
  readonly definitions: Definitions;
  readonly policyTexts: PolicyTexts;
  readonly lease: Lease;
  readonly hosts: ReadonlyMap<string, Host>;
  /** What is known of the tools of calls that their callers run: enough to judge a call, not to run it. */
  readonly callers: Pick<Host, "tool">;
  readonly queue: SessionQueue;
  readonly inFlight: InFlight;
  readonly acknowledged: AcknowledgedCommits;
  readonly settings: EngineSettings;
  /** The limits of the whole ledger. */
  readonly quota: Quota;
  readonly userOpenLimit: UserOpenLimit;
  readonly slowChecks: SlowChecks;
  readonly trace: Trace;
  readonly unstored: Unstored;
  /** Aborts when the engine is being closed and has waited long enough for the ledger. */
  readonly gaveUp: AbortSignal;
  /** Aborts when the engine is closed. */
  readonly closed: AbortSignal;
  /** Resolves once it is known that the ledger was created with our secret; awaited before every command. */
  readonly ready: () => Promise<void> | undefined;
  /** What runs here; notified of every draft that this process has committed. */
  readonly executions: Executions;
  /** Recovers a call if the process or the caller that held it is lost. Otherwise it does nothing. */
  readonly recoverLost: (callId: string) => Promise<void>;
  /** Claims frames that are ready, and steps them here. */
  readonly takeUp: (frames: readonly string[]) => Promise<void>;
}
