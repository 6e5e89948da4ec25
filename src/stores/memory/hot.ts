import { TransientMap } from "../../engine/index.ts";

/** Values on the heap, in the order of their last change, up to a total weight. The oldest beyond that are moved away. */
export class Hot<Key, Value> {
  readonly #held = new TransientMap<Key, Value>();
  readonly #most: number;
  readonly #weightOf: (value: Value) => number;
  #weight = 0;
  #newest: Key | undefined;

  constructor(most: number, weightOf: (value: Value) => number) {
    this.#most = most;
    this.#weightOf = weightOf;
  }

  get(key: Key): Value | undefined {
    return this.#held.get(key);
  }

  values(): Iterable<Value> {
    return this.#held.values();
  }

  set(key: Key, value: Value): void {
    const before = this.#held.get(key);
    if (before !== undefined) this.#weight -= this.#weightOf(before);
    // What changed last is in its place already.
    if (before !== undefined && key !== this.#newest) this.#held.delete(key);
    this.#held.set(key, value);
    this.#newest = key;
    this.#weight += this.#weightOf(value);
  }

  delete(key: Key): boolean {
    const value = this.#held.get(key);
    if (value === undefined) return false;
    this.#held.delete(key);
    this.#weight -= this.#weightOf(value);
    return true;
  }

  /**
   * Once there is too much: stores elsewhere what has not changed for longest, so that there is room for as much again, and
   * lets go of it. What could not be stored stays here: the change that brought it is in force already.
   */
  spill(store: (oldest: readonly Value[]) => void): void {
    if (this.#weight <= this.#most) return;
    const oldest: [Key, Value][] = [];
    let left = this.#weight;
    for (const [key, value] of this.#held.entries()) {
      if (left <= this.#most / 2) break;
      left -= this.#weightOf(value);
      oldest.push([key, value]);
    }
    try {
      store(oldest.map(([, value]) => value));
    } catch {
      return;
    }
    for (const [key] of oldest) this.delete(key);
  }
}
