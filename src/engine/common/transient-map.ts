/** A new map is made after this many removals, plus two for each entry that is left. */
const FEW = 64;

/**
 * A map for what comes and goes all the time, in an object that lives long. A plain `Map` replaces its table every few
 * changes, and the old table refers to the new one. Once one of them is in the old generation of the heap, all that passes
 * through the map survives until the next full collection. So this one starts a new `Map` now and then.
 */
export class TransientMap<Key, Value> {
  #map = new Map<Key, Value>();
  #removed = 0;

  get size(): number {
    return this.#map.size;
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  has(key: Key): boolean {
    return this.#map.has(key);
  }

  set(key: Key, value: Value): void {
    this.#map.set(key, value);
  }

  delete(key: Key): boolean {
    if (!this.#map.delete(key)) return false;
    this.#removed += 1;
    if (this.#removed > FEW + 2 * this.#map.size) {
      this.#map = new Map(this.#map);
      this.#removed = 0;
    }
    return true;
  }

  /** In the order in which they were added. An entry that is removed during the iteration may still be returned. */
  keys(): Iterable<Key> {
    return this.#map.keys();
  }

  values(): Iterable<Value> {
    return this.#map.values();
  }

  entries(): Iterable<readonly [Key, Value]> {
    return this.#map.entries();
  }
}
