import { isJsonObject } from "../../protocol/index.ts";
import type { KeyValueStore, StoredItem } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

const ID = "lease";
const LEASE_MS = 60_000;

/** Work that one process at a time does. */
export type LeasedWork = "retention" | "receipts";

/** The right to do this work, for one process at a time, as the ledger says. It ends by itself if its holder dies. */
export class RunLease {
  readonly #items: KeyValueStore;
  readonly #now: () => number;
  readonly #lease: Held;

  private constructor({ ledger }: EngineParts, lease: Held) {
    this.#items = ledger.items;
    this.#now = () => ledger.now;
    this.#lease = lease;
  }

  /** Does this work, unless another process does it: then undefined, and nothing is done. */
  static async during<T extends object>(
    parts: EngineParts,
    work: LeasedWork,
    run: (lease: RunLease) => Promise<T>,
  ): Promise<T | undefined> {
    const lease = await RunLease.#take(parts, work);
    if (lease === undefined) return undefined;
    try {
      return await run(lease);
    } finally {
      await lease.#release();
    }
  }

  /** Undefined if another process has it. */
  static async #take(parts: EngineParts, work: LeasedWork): Promise<RunLease | undefined> {
    const { items, now } = parts.ledger;
    const held = await items.get(work, ID);
    // A clock that was set back must not make everybody wait: no lease is longer than this.
    const isStale = held !== undefined && (held.expiresAt ?? Number.POSITIVE_INFINITY) > now + LEASE_MS;
    if (held !== undefined && !isStale) return undefined;
    const lease: Held = { kind: work, id: ID, value: { owner: parts.newId(now) } };
    const taken = await items.put({ ...lease, expiresAt: now + LEASE_MS }, held?.version ?? 0);
    return taken ? new RunLease(parts, lease) : undefined;
  }

  /** Renews it. False if the work must end: it was stopped, or the lease ran out and another process may have taken it. */
  async goesOn(stop?: AbortSignal): Promise<boolean> {
    if (stop?.aborted === true) return false;
    const held = await this.#held();
    if (held === undefined) return false;
    return this.#items.put({ ...this.#lease, expiresAt: this.#now() + LEASE_MS }, held.version);
  }

  async #release(): Promise<void> {
    const held = await this.#held();
    if (held !== undefined) await this.#items.remove(held);
  }

  // By its owner, not by its version: that counts from 1 again when somebody takes a lease that ran out.
  async #held(): Promise<StoredItem | undefined> {
    const { kind, id, value } = this.#lease;
    const held = await this.#items.get(kind, id);
    const isOurs = isJsonObject(held?.value) && held.value["owner"] === value.owner;
    return isOurs ? held : undefined;
  }
}

interface Held {
  readonly kind: LeasedWork;
  readonly id: typeof ID;
  readonly value: { readonly owner: string };
}
