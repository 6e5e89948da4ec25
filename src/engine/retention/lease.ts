import type { KeyValueStore } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";

const LEASE = { kind: "retention", id: "lease" } as const;
const LEASE_MS = 60_000;

/** The right to run retention, for one process at a time, as the ledger says. It ends by itself if its holder dies. */
export class RunLease {
  readonly #items: KeyValueStore;
  readonly #now: () => number;
  readonly #owner: string;
  #version: number;

  private constructor({ ledger }: EngineParts, owner: string, version: number) {
    this.#items = ledger.items;
    this.#now = () => ledger.now;
    this.#owner = owner;
    this.#version = version;
  }

  /** Undefined if another process has it. */
  static async take(parts: EngineParts): Promise<RunLease | undefined> {
    const { items, now } = parts.ledger;
    const held = await items.get(LEASE.kind, LEASE.id);
    // A clock that was set back must not make everybody wait: no lease is longer than this.
    const isStale = held !== undefined && (held.expiresAt ?? Number.POSITIVE_INFINITY) > now + LEASE_MS;
    if (held !== undefined && !isStale) return undefined;
    const owner = parts.newId(now);
    const read = held?.version ?? 0;
    const taken = await items.put({ ...LEASE, value: { owner }, expiresAt: now + LEASE_MS }, read);
    return taken ? new RunLease(parts, owner, read + 1) : undefined;
  }

  /** False if it ran out and another process has taken it. */
  async renew(): Promise<boolean> {
    const item = { ...LEASE, value: { owner: this.#owner }, expiresAt: this.#now() + LEASE_MS };
    const renewed = await this.#items.put(item, this.#version);
    if (renewed) this.#version += 1;
    return renewed;
  }

  async release(): Promise<void> {
    await this.#items.remove({ ...LEASE, version: this.#version });
  }
}
