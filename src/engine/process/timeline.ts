import { CountersignError } from "../../protocol/index.ts";
import type { Clock } from "../common/index.ts";
import type { Ledger, LedgerHistory } from "../ledger/index.ts";

export interface HistoryOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Asserts what this process knows on a ledger that may have lost it. Rejects where that has to be tried again. */
  readonly onNew?: (history: string) => Promise<void>;
}

/** Nobody may claim for one lease after a server was replaced; whoever waits for much longer is told. */
const MOST_LEASES = 4;
/** What went with the old server is met with within so long. */
const NEW_MS = 2 * 60_000;

/**
 * Which course of events the ledger is on, and whether this process has checked what it knows against it. A standby that
 * was promoted may lack the last commits of the primary; until every living process has had a lease's time to say what
 * it knows of, nobody claims.
 */
export class History {
  readonly #options: HistoryOptions;
  /** The one that everything this process knows is known of. */
  #confirmed: string | undefined;
  #current: string | undefined;
  #asserting: string | undefined;
  #claimsAt = Number.NEGATIVE_INFINITY;
  #replacedAt = Number.NEGATIVE_INFINITY;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** The one to beat with: on any other, the ledger lets this process claim nothing. */
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

  /** Asks the ledger which one it is on. One that is new is asserted against, beside everything else. */
  async look(): Promise<void> {
    const { ledger, clock, leaseMs } = this.#options;
    const { id, claimsInMs }: LedgerHistory = await ledger.history(leaseMs);
    this.#claimsAt = claimsInMs <= 0 ? Number.NEGATIVE_INFINITY : clock.monotonic() + claimsInMs;
    this.#current = id;
    // Whoever has just begun knows of nothing that could have been lost.
    this.#confirmed ??= id;
    if (id !== this.#confirmed && id !== this.#asserting) this.#assert(id);
  }

  /** Resolves when claims may be made. `beat` renews the lease meanwhile, and looks. */
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
        // By then the server may have been replaced once more, and what is said to that one may have come first.
        if (this.#asserting === id) this.#confirmed = id;
      },
      () => {
        // Tried again at the next look.
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
