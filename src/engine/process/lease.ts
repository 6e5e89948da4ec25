import type { Clock } from "../common/index.ts";
import type { Ledger, Owner } from "../ledger/index.ts";
import { History } from "./timeline.ts";

export interface LeaseOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly host: string;
  readonly pid: number;
  readonly newOwnerId: () => string;
  /** Called after every successful heartbeat. Must not throw; nothing waits for it. */
  readonly onBeat?: (owner: string) => void;
  /** As `HistoryOptions.onNew`. */
  readonly onNewHistory?: (history: string) => Promise<void>;
}

/** A moment by both clocks. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

const NEVER: Moment = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

/**
 * This process's right to hold claims: one row in the ledger, renewed by one statement for all claims. A lost lease is
 * never used again; the next claim is made with a new owner.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #history: History;
  #owner: Owner;
  #beatAt = NEVER;
  #running = 0;
  #stopBeating: AbortController | undefined;
  #abandoned = false;
  /** Did the last heartbeat fail? */
  #failed = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    const { ledger, clock, leaseMs, onNewHistory: onNew } = options;
    this.#history = new History({ ledger, clock, leaseMs, ...(onNew === undefined ? {} : { onNew }) });
    this.#owner = this.#newOwner();
  }

  /** The owner to claim with; at least two thirds of its lease are left. */
  async hold(): Promise<string> {
    // The process is about to end, so new claims are left to others.
    if (this.#abandoned) await new Promise(() => {});
    // If a heartbeat reports a lost lease, a new owner takes its place, and this is its first heartbeat. It must not be
    // replaced again: there may be claims with it by now.
    if (!this.#isFresh() && !(await this.#beat())) await this.#beat();
    if (this.#history.isBarred) await this.#passHistory();
    return this.#owner.id;
  }

  /** The ledger refused a claim because of its history: resolves when claims may be made. */
  async historyRefused(): Promise<void> {
    await this.#beat();
    await this.#passHistory();
  }

  /** Asks which server the ledger is on: did this process see it being replaced in the last minutes? */
  async wasReplaced(): Promise<boolean> {
    await this.#history.look();
    return this.#history.isNew;
  }

  /** Has this owner certainly held its lease without interruption until now? */
  isFresh(owner: string): boolean {
    return owner === this.#owner.id && this.#isFresh();
  }

  /** Renews this owner's lease; false if it is no longer ours. */
  async renew(owner: string): Promise<boolean> {
    return owner === this.#owner.id && this.#beat();
  }

  /** Starts or renews the lease of a caller that runs its call itself; false if that lease was lost. */
  async register(owner: Owner, leaseMs: number): Promise<boolean> {
    return this.#renew(owner, leaseMs);
  }

  /** Throws while heartbeats fail. Sends one only if the last one failed, until one succeeds. */
  async check(): Promise<void> {
    if (this.#failed && !this.#abandoned) await this.#beat();
  }

  /** The ledger refused this owner: do not use it again. */
  lost(owner: string): void {
    if (owner !== this.#owner.id) return;
    this.#owner = this.#newOwner();
    this.#beatAt = NEVER;
  }

  /**
   * The connection was lost during a claim with this owner: the ledger may have a claim that this process does not
   * know. If other work runs with this owner, it stays, and reconciliation releases the claim; otherwise the owner is
   * abandoned, like that of a dead process.
   */
  mayHold(owner: string): void {
    if (this.#running === 0) this.lost(owner);
  }

  /** Renews the lease until the returned function is called. */
  keep(): () => void {
    this.#running += 1;
    this.#startBeating();
    let kept = true;
    return () => {
      if (!kept) return;
      kept = false;
      this.#running -= 1;
    };
  }

  /** Releases the lease, so that others can take over its work without waiting. */
  async retire(): Promise<void> {
    this.#stopBeating?.abort();
    this.#stopBeating = undefined;
    const { id } = this.#owner;
    const wasHeld = this.#beatAt !== NEVER;
    // First stop using it in this process; then tell the ledger.
    this.lost(id);
    if (wasHeld) await this.#options.ledger.owners.retire(id);
  }

  /**
   * Releases the lease while work still runs. For a process that exits right after: further requests for a lease wait.
   */
  async abandon(): Promise<void> {
    this.#abandoned = true;
    await this.retire();
  }

  // Both clocks must agree: one stops while the host sleeps, the other can be set.
  #isFresh(): boolean {
    const { clock, leaseMs } = this.#options;
    const passed = clock.monotonic() - this.#beatAt.monotonic;
    const passedByWall = clock.now() - this.#beatAt.wall;
    return Math.min(passed, passedByWall) >= 0 && Math.max(passed, passedByWall) < leaseMs / 3;
  }

  #read(): Moment {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  async #passHistory(): Promise<void> {
    const { clock, heartbeatMs } = this.#options;
    const release = clock.hold();
    const beat = async (): Promise<void> => {
      // The process is about to end.
      if (this.#abandoned) await new Promise(() => {});
      await this.#beat();
    };
    await this.#history.passed(beat, heartbeatMs).finally(release);
  }

  async #beat(): Promise<boolean> {
    const owner = this.#owner;
    // Measured before the statement, so that our measure of the lease ends no later than the ledger's.
    const startedAt = this.#read();
    const alive = await this.#renew(owner, this.#options.leaseMs).catch((error: unknown) => {
      this.#failed = true;
      throw error;
    });
    this.#failed = false;
    if (alive && owner === this.#owner) this.#beatAt = startedAt;
    if (alive) this.#options.onBeat?.(owner.id);
    else this.lost(owner.id);
    return alive;
  }

  async #renew(owner: Owner, leaseMs: number): Promise<boolean> {
    const { ledger } = this.#options;
    await this.#history.look();
    const { confirmed } = this.#history;
    return ledger.owners.beat(confirmed === undefined ? owner : { ...owner, history: confirmed }, leaseMs);
  }

  // Calls are much shorter than heartbeat intervals, so heartbeats continue for up to one interval after the last call.
  #startBeating(): void {
    if (this.#stopBeating !== undefined) return;
    const stop = new AbortController();
    this.#stopBeating = stop;
    // Heartbeats do not reject; if the clock does, the lease expires, which is safe.
    this.#beatWhileRunning(stop.signal).catch(() => {});
  }

  async #beatWhileRunning(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleepInBackground(this.#options.heartbeatMs, signal);
      if (signal.aborted) return;
      if (this.#running === 0) {
        // No await between the check and this line: the next call must see that no heartbeat runs.
        this.#stopBeating = undefined;
        return;
      }
      // A failed heartbeat is tried again at the next interval; until then the lease gets shorter.
      await this.#beat().catch(() => false);
    }
  }

  #newOwner(): Owner {
    const { newOwnerId, host, pid } = this.#options;
    return { id: newOwnerId(), host, pid };
  }
}
