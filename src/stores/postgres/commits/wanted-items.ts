import type { ItemKey, StoredItem } from "../../../engine/index.ts";

/**
 * Items that were read with a commit: whoever asks for the same ones at the moment at which it is answered need not read them.
 * They are not kept for longer, nor once this process has written items.
 */
export class WantedItems {
  readonly #kept = new Map<string, readonly StoredItem[]>();
  #writes = 0;

  /** How often this process has written items: asked before something is read. */
  get writes(): number {
    return this.#writes;
  }

  /** Items were written, or may have been. */
  written(): void {
    this.#writes += 1;
    this.#kept.clear();
  }

  /** `writes`: as it was before they were read. */
  keep(keys: readonly ItemKey[], items: readonly StoredItem[], writes: number): void {
    if (writes !== this.#writes) return;
    const name = nameOf(keys);
    this.#kept.set(name, items);
    setImmediate(() => {
      if (this.#kept.get(name) === items) this.#kept.delete(name);
    });
  }

  /** What was read of exactly these. */
  find(keys: readonly ItemKey[]): readonly StoredItem[] | undefined {
    return this.#kept.size === 0 ? undefined : this.#kept.get(nameOf(keys));
  }
}

function nameOf(keys: readonly ItemKey[]): string {
  return JSON.stringify(keys.map(({ kind, id }) => [kind, id]));
}
