/** Of so many callers the one that has been quiet for longest is forgotten when another comes. */
const MANY = 10_000;
const MINUTE_MS = 60_000;

interface Bucket {
  readonly left: number;
  readonly at: number;
}

/**
 * Lets everyone have so many a minute, and as many at once. Of this process only: it keeps one client from taking what
 * others need, and is no protection of secrets.
 */
export class TokenBuckets {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** How many callers are remembered. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one. Gives 0, or how many milliseconds it is until there is one. */
  take(key: string): number {
    const now = this.#now();
    const left = this.#leftIn(this.#buckets.get(key), now);
    const isEmpty = left < 1;
    this.#remember(key, { left: isEmpty ? left : left - 1, at: now });
    return isEmpty ? Math.ceil(((1 - left) * MINUTE_MS) / this.#perMinute) : 0;
  }

  #leftIn(bucket: Bucket | undefined, now: number): number {
    if (bucket === undefined) return this.#perMinute;
    return Math.min(this.#perMinute, bucket.left + ((now - bucket.at) * this.#perMinute) / MINUTE_MS);
  }

  // Whoever goes on is the last of them, and so is never forgotten for others' sake.
  #remember(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size <= MANY) return;
    const [quietest] = this.#buckets.keys();
    if (quietest !== undefined) this.#buckets.delete(quietest);
  }
}
