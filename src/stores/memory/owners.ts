import type { Owner, OwnerState } from "../../engine/index.ts";

interface Lease extends Owner {
  leaseUntil: number;
  lastBeatAt: number;
  fenced: boolean;
}

// A fenced owner that came back must still be refused, and a person who settles an unknown call is shown who held it.
const KEPT_MS = 24 * 60 * 60 * 1_000;

/** Who may write on behalf of a process, and until when. */
export class Owners {
  readonly #leases = new Map<string, Lease>();

  hasLease(id: string, now: number): boolean {
    const lease = this.#leases.get(id);
    return lease !== undefined && !lease.fenced && lease.leaseUntil > now;
  }

  /** Those that are not fenced. */
  get unfenced(): readonly string[] {
    return [...this.#leases.values()].filter(({ fenced }) => !fenced).map(({ id }) => id);
  }

  beat({ id, host, pid }: Owner, leaseUntil: number, now: number): boolean {
    if (this.#leases.get(id)?.fenced === true) return false;
    const { host: at = host, pid: as = pid } = this.#leases.get(id) ?? {};
    this.#leases.set(id, { id, host: at, pid: as, leaseUntil, lastBeatAt: now, fenced: false });
    return true;
  }

  retire(id: string, now: number): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) return;
    lease.fenced = true;
    lease.leaseUntil = Math.min(lease.leaseUntil, now);
  }

  state(id: string, now: number): OwnerState | undefined {
    const lease = this.#leases.get(id);
    return lease && { ...lease, alive: this.hasLease(id, now) };
  }

  fenceOverdue(now: number): void {
    for (const lease of this.#leases.values()) {
      if (lease.fenced) continue;
      // The clock was set back since. The lease counts from now on: who is alive beats before it is over.
      if (lease.lastBeatAt > now) {
        lease.leaseUntil = now + lease.leaseUntil - lease.lastBeatAt;
        lease.lastBeatAt = now;
      }
      if (lease.leaseUntil <= now) lease.fenced = true;
    }
  }

  /** Drops those that are long gone, unless they hold something. */
  drop(now: number, holds: (id: string) => boolean): void {
    for (const { id, leaseUntil } of this.#leases.values())
      if (leaseUntil <= now - KEPT_MS && !holds(id)) this.#leases.delete(id);
  }
}
