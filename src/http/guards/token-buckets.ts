/** If there are more callers than this, the one that has been idle longest is removed. */
const MANY = 10_000;
const MINUTE_MS = 60_000;

interface Bucket {
  readonly left: number;
  readonly at: number;
}

/**
 * A token bucket per caller: a number of requests per minute, and the same number at once unless told. In this process only. It keeps one client from
 * using up what others need; it does not protect secrets.
 */
export class TokenBuckets {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #atOnce: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, now: () => number, atOnce: number = perMinute) {
    this.#perMinute = perMinute;
    this.#now = now;
    this.#atOnce = atOnce;
  }

  /** How many callers are stored. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one token. Returns 0, or the milliseconds until there is one. */
  take(key: string): number {
    const now = this.#now();
    const left = this.#leftIn(this.#buckets.get(key), now);
    const isEmpty = left < 1;
    this.#remember(key, { left: isEmpty ? left : left - 1, at: now });
    return isEmpty ? Math.ceil(((1 - left) * MINUTE_MS) / this.#perMinute) : 0;
  }

  #leftIn(bucket: Bucket | undefined, now: number): number {
    if (bucket === undefined) return this.#atOnce;
    return Math.min(this.#atOnce, bucket.left + ((now - bucket.at) * this.#perMinute) / MINUTE_MS);
  }

  // An active caller moves to the end, so that it is not removed.
  #remember(key: string, bucket: Bucket): void {
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size <= MANY) return;
    const [quietest] = this.#buckets.keys();
    if (quietest !== undefined) this.#buckets.delete(quietest);
  }
}
