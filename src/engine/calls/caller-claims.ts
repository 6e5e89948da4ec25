import type { Clock } from "../common/index.ts";
import type { Claimed } from "./claim.ts";
import type { KnownClaim } from "./claim-outcomes.ts";

const AFTER_LEASE_MS = 2 * 60_000;
const MOST_CLAIMS = 10_000;

/**
 * Claims that this process gave to callers that run their calls themselves. If the ledger lost its last commits, this
 * process still knows that such a call was started. Limited by time and number; the oldest are removed first.
 */
export class CallerClaims {
  readonly #clock: Clock;
  readonly #volatile: boolean;
  readonly #kept = new Map<string, { readonly claimed: Claimed; readonly until: number }>();

  /** Keeps nothing for a `volatile` ledger, which cannot lose anything while its process lives. */
  constructor(clock: Clock, { volatile }: { readonly volatile: boolean }) {
    this.#clock = clock;
    this.#volatile = volatile;
  }

  /** A claim that was given or renewed, for this long. */
  keep(claimed: Claimed, leaseMs: number): void {
    if (this.#volatile) return;
    const key = keyOf(claimed.call);
    this.#kept.delete(key);
    // Arguments may be large, and nobody asks for them here.
    const { draft: _draft, confirmation: _confirmation, ...known } = claimed;
    const call = { ...claimed.call, args: {} };
    const until = this.#clock.monotonic() + leaseMs + AFTER_LEASE_MS;
    this.#kept.set(key, { claimed: { ...known, call, confirmation: undefined }, until });
    const [oldest = ""] = this.#kept.keys();
    if (this.#kept.size > MOST_CLAIMS) this.#kept.delete(oldest);
  }

  drop(call: { readonly id: string; readonly attempt: number }): void {
    this.#kept.delete(keyOf(call));
  }

  /** Forgets the claims of a session that was erased. */
  erase(session: string): void {
    for (const [key, { claimed }] of this.#kept) if (claimed.session.key === session) this.#kept.delete(key);
  }

  /** What may still run. */
  get all(): readonly KnownClaim[] {
    const now = this.#clock.monotonic();
    for (const [key, { until }] of this.#kept) if (until < now) this.#kept.delete(key);
    return [...this.#kept.values()].map(({ claimed }) => ({ claimed }));
  }
}

function keyOf({ id, attempt }: { readonly id: string; readonly attempt: number }): string {
  return `${id} ${attempt}`;
}
