import { CountersignError } from "../../protocol/index.ts";
import type { Clock } from "../common/index.ts";
import type { Ledger, LedgerHistory } from "../ledger/index.ts";

export interface HistoryOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Compares what this process knows with a ledger that may have lost it. Rejects if it must be tried again. */
  readonly onNew?: (history: string) => Promise<void>;
}

/** No process may claim for one lease after a server was replaced. A caller that waits much longer gets an error. */
const MOST_LEASES = 4;
/** For this long after a replacement, checkpoints may be missing because of it. */
const NEW_MS = 2 * 60_000;

/**
 * Which server history the ledger is on, and whether this process has compared what it knows with it. A promoted
 * standby may lack the last commits of the primary. So no process claims until every live process has had one lease's
 * time to compare.
 */
export class History {
  readonly #options: HistoryOptions;
  /** The history that this process has compared its knowledge with. */
  #confirmed: string | undefined;
  #current: string | undefined;
  #asserting: string | undefined;
  #claimsAt = Number.NEGATIVE_INFINITY;
  #replacedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** The history to send with heartbeats: on any other, the ledger allows this process no claims. */
  get confirmed(): string | undefined {
    return this.#confirmed;
  }

  /** Must this process wait before it claims? */
  get isBarred(): boolean {
    return this.#confirmed !== this.#current || this.#options.clock.monotonic() < this.#claimsAt;
  }

  /** Has this process seen in the last minutes that the server was replaced? */
  get isNew(): boolean {
    return this.#options.clock.monotonic() - this.#replacedAt < NEW_MS;
  }

  /** Asks the ledger which history it is on. A new one is compared in the background. */
  async look(): Promise<void> {
    const { ledger, clock, leaseMs } = this.#options;
    const { id, claimsInMs }: LedgerHistory = await ledger.owners.history(leaseMs);
    this.#claimsAt = claimsInMs <= 0 ? Number.NEGATIVE_INFINITY : clock.monotonic() + claimsInMs;
    this.#current = id;
    // A process that has just started knows nothing that could have been lost.
    this.#confirmed ??= id;
    if (id !== this.#confirmed && id !== this.#asserting) this.#assert(id);
  }

  /** Resolves when claims may be made. `beat` renews the lease meanwhile and checks the history. */
  async passed(beat: () => Promise<unknown>, heartbeatMs: number): Promise<void> {
    const { clock, leaseMs } = this.#options;
    const patientUntil = clock.monotonic() + MOST_LEASES * leaseMs;
    while (this.isBarred) {
      const now = clock.monotonic();
      if (now >= patientUntil) throw barred();
      const claimsInMs = this.#claimsAt - now;
      await clock.sleep(claimsInMs > 0 ? Math.min(heartbeatMs, claimsInMs) : Math.min(heartbeatMs, SOON_MS));
      await beat();
    }
  }

  #assert(id: string): void {
    this.#asserting = id;
    this.#replacedAt = this.#options.clock.monotonic();
    const asserted = this.#options.onNew?.(id) ?? Promise.resolve();
    asserted.then(
      () => {
        // By then the server may have been replaced again, and the comparison with that one may have finished first.
        if (this.#asserting === id) this.#confirmed = id;
      },
      () => {
        // Tried again at the next check.
        if (this.#asserting === id) this.#asserting = undefined;
      },
    );
  }
}

const SOON_MS = 100;

function barred(): CountersignError {
  return new CountersignError(
    "ledger-busy",
    "The database server was replaced, and this process is still checking what was lost. Try again.",
  );
}
