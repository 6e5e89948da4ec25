import type { HeldWork, LedgerHistory, Owner, OwnerState, Owners } from "../ledger/index.ts";
import type { Store } from "./store.ts";

/** Who may hold claims, as a store knows them. */
export class StoredOwners implements Owners {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  beat(owner: Owner, leaseMs: number): Promise<boolean> {
    return this.#store.beat(owner, leaseMs);
  }

  history(leaseMs: number): Promise<LedgerHistory> {
    return this.#store.history(leaseMs);
  }

  retire(owner: string): Promise<void> {
    return this.#store.retire(owner);
  }

  get(id: string): Promise<OwnerState | undefined> {
    return this.#store.owner(id);
  }

  async held(owner: string): Promise<HeldWork> {
    const page = { value: owner, limit: Number.MAX_SAFE_INTEGER };
    const [calls = [], frames = []] = await this.#store.entries([
      { facet: "held call", ...page },
      { facet: "held frame", ...page },
    ]);
    return {
      calls: calls.map(({ id, sort }) => ({ id, attempt: sort })),
      frames: frames.map(({ id, sort }) => ({ id, turn: sort })),
    };
  }
}
