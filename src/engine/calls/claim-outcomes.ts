import type { JsonValue } from "../../protocol/index.ts";
import { type Clock, TransientMap } from "../common/index.ts";
import type { Claimed } from "./claim.ts";
import type { EntryOutcome } from "./record-entry.ts";

/** A claim of this process, and how it ended, if it did. */
export interface KnownClaim {
  readonly claimed: Claimed;
  readonly outcome?: EntryOutcome;
}

/** How an entry into a call ended, as this process saw it. */
export interface KnownEnd extends KnownClaim {
  readonly outcome: EntryOutcome;
}

interface Kept extends KnownEnd {
  readonly at: number;
  readonly size: number;
}

const KEPT_MS = 2 * 60_000;
const MOST_ENDS = 10_000;
const MOST_SIZE = 32 * 1_048_576;
/** What a call weighs beside its arguments and its result. */
const CALL_SIZE = 1_000;

/**
 * How calls ended in this process in the last minutes. If the ledger lost its last commits, it shows them as executing;
 * this process still knows how they ended. Limited by age, number and size; the oldest are removed first.
 */
export class Outcomes {
  readonly #clock: Clock;
  readonly #volatile: boolean;
  readonly #kept = new TransientMap<string, Kept>();
  #size = 0;

  /** Keeps nothing for a `volatile` ledger, which cannot lose anything while its process lives. */
  constructor(clock: Clock, { volatile }: { readonly volatile: boolean }) {
    this.#clock = clock;
    this.#volatile = volatile;
  }

  keep(end: KnownEnd): void {
    if (this.#volatile) return;
    // Its draft has all that was committed with the claim.
    const { draft: _draft, ...claimed } = end.claimed;
    const { call } = claimed;
    const size = CALL_SIZE + sizeOf(call.args) + sizeOf(resultOf(end.outcome));
    const key = keyOf(call);
    this.#drop(key);
    this.#kept.set(key, { ...end, claimed, at: this.#clock.monotonic(), size });
    this.#size += size;
    this.forgetOld();
  }

  /** Forgets the outcomes of a session that was erased. */
  erase(session: string): void {
    for (const [key, { claimed }] of this.#kept.entries())
      if (claimed.session.key === session) this.#drop(key);
  }

  get all(): readonly KnownEnd[] {
    this.forgetOld();
    return [...this.#kept.values()];
  }

  of(call: { readonly id: string; readonly attempt: number }): KnownEnd | undefined {
    this.forgetOld();
    return this.#kept.get(keyOf(call));
  }

  forgetOld(): void {
    const oldest = this.#clock.monotonic() - KEPT_MS;
    for (const [key, { at }] of this.#kept.entries()) {
      if (at >= oldest && this.#kept.size <= MOST_ENDS && this.#size <= MOST_SIZE) return;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }
}

function keyOf({ id, attempt }: { readonly id: string; readonly attempt: number }): string {
  return `${id} ${attempt}`;
}

function resultOf(outcome: EntryOutcome): JsonValue | undefined {
  if (outcome.kind === "succeeded") return outcome.result;
  return outcome.kind === "failed" ? outcome.error : undefined;
}

/** The approximate length of a value as JSON; cheaper than serialising it. */
function sizeOf(value: JsonValue | undefined): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  for (const [name, member] of Object.entries(value)) size += name.length + 4 + sizeOf(member);
  return size;
}
