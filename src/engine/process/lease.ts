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
  /** Told of every beat that the ledger took. Must not throw; nothing waits for what it does. */
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
 * This process's right to hold claims: one row in the ledger, kept alive by one statement for all of them.
 * A lease that was lost is never taken up again; the next claim is made under a new owner.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #history: History;
  #owner: Owner;
  #beatAt = NEVER;
  #running = 0;
  #stopBeating: AbortController | undefined;
  #abandoned = false;
  /** Did the ledger not take the last beat? */
  #failed = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    const { ledger, clock, leaseMs, onNewHistory: onNew } = options;
    this.#history = new History({ ledger, clock, leaseMs, ...(onNew === undefined ? {} : { onNew }) });
    this.#owner = this.#newOwner();
  }

  /** The owner to claim under, with at least two thirds of its lease ahead. */
  async hold(): Promise<string> {
    // The process is about to end: what would be claimed now is better left to others.
    if (this.#abandoned) await new Promise(() => {});
    // A beat that comes back with a loss has made way for a new owner, whose first beat this then is. It must
    // not be replaced once more: others may have claimed under it by now.
    if (!this.#isFresh() && !(await this.#beat())) await this.#beat();
    if (this.#history.isBarred) await this.#passHistory();
    return this.#owner.id;
  }

  /** The ledger refused a claim because of its history: resolves when claims may be made. */
  async historyRefused(): Promise<void> {
    await this.#beat();
    await this.#passHistory();
  }

  /** Asks which server the ledger is on: was it replaced in the last minutes, as this process saw it? */
  async wasReplaced(): Promise<boolean> {
    await this.#history.look();
    return this.#history.isNew;
  }

  /** Has this owner, beyond doubt, held its lease without a break until now? */
  isFresh(owner: string): boolean {
    return owner === this.#owner.id && this.#isFresh();
  }

  /** Renews this owner's lease; false if it is no longer ours. */
  async renew(owner: string): Promise<boolean> {
    return owner === this.#owner.id && this.#beat();
  }

  /** Throws while the ledger does not take a beat. Asks it only where the last one failed, until one succeeds. */
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
   * The ledger was lost while it was asked to claim under this owner: it may hold what nobody here knows of. Where work
   * goes on under it, it stays, and reconciliation takes that back; otherwise it is given up, as a dead process's is.
   */
  mayHold(owner: string): void {
    if (this.#running === 0) this.lost(owner);
  }

  /** Keeps the lease alive until the returned function is called. */
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

  /** Gives the lease up, so that what it still holds is taken over without waiting. */
  async retire(): Promise<void> {
    this.#stopBeating?.abort();
    this.#stopBeating = undefined;
    const { id } = this.#owner;
    const wasHeld = this.#beatAt !== NEVER;
    // Before the ledger knows: nobody here begins anything under it any more.
    this.lost(id);
    if (wasHeld) await this.#options.ledger.retire(id);
  }

  /** Gives the lease up with work still under it. For a process that ends right after: whoever asks for a lease now waits. */
  async abandon(): Promise<void> {
    this.#abandoned = true;
    await this.retire();
  }

  // Both clocks must say so: one stands still while the host sleeps, the other can be set.
  #isFresh(): boolean {
    const { monotonic, wall } = this.#read();
    const longest = this.#options.leaseMs / 3;
    const passed = [monotonic - this.#beatAt.monotonic, wall - this.#beatAt.wall];
    return passed.every((ms) => ms >= 0 && ms < longest);
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
    // Taken before the statement: what is measured must be no shorter than what the ledger grants.
    const startedAt = this.#read();
    const alive = await this.#renew(owner).catch((error: unknown) => {
      this.#failed = true;
      throw error;
    });
    this.#failed = false;
    if (alive && owner === this.#owner) this.#beatAt = startedAt;
    if (alive) this.#options.onBeat?.(owner.id);
    else this.lost(owner.id);
    return alive;
  }

  async #renew(owner: Owner): Promise<boolean> {
    const { ledger, leaseMs } = this.#options;
    await this.#history.look();
    const { confirmed } = this.#history;
    return ledger.beat(confirmed === undefined ? owner : { ...owner, history: confirmed }, leaseMs);
  }

  // Calls come and go much faster than heartbeats, so the beating outlives them by up to one interval.
  #startBeating(): void {
    if (this.#stopBeating !== undefined) return;
    const stop = new AbortController();
    this.#stopBeating = stop;
    // Its own beats do not reject; a clock that does leaves a lease that runs down, which is safe.
    this.#beatWhileRunning(stop.signal).catch(() => {});
  }

  async #beatWhileRunning(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleepInBackground(this.#options.heartbeatMs, signal);
      if (signal.aborted) return;
      if (this.#running === 0) {
        // In the same breath as the look: a call that comes next must find that nobody beats for it.
        this.#stopBeating = undefined;
        return;
      }
      // A beat that fails is tried again at the next interval; until then the lease simply runs down.
      await this.#beat().catch(() => false);
    }
  }

  #newOwner(): Owner {
    const { newOwnerId, host, pid } = this.#options;
    return { id: newOwnerId(), host, pid };
  }
}
