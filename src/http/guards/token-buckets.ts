/** Beyond so many keys, those that are full again are forgotten. */
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
    if (left < 1) return Math.ceil(((1 - left) * MINUTE_MS) / this.#perMinute);
    if (this.#buckets.size >= MANY && !this.#buckets.has(key)) this.#forgetFull(now);
    this.#buckets.set(key, { left: left - 1, at: now });
    return 0;
  }

  #leftIn(bucket: Bucket | undefined, now: number): number {
    if (bucket === undefined) return this.#perMinute;
    return Math.min(this.#perMinute, bucket.left + ((now - bucket.at) * this.#perMinute) / MINUTE_MS);
  }

  // If none is, somebody sends from very many addresses; then all begin anew, which is better than running out of memory.
  #forgetFull(now: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (this.#leftIn(bucket, now) >= this.#perMinute) this.#buckets.delete(key);
    }
    if (this.#buckets.size >= MANY) this.#buckets.clear();
  }
}
