/** A typical value, and one that nine of ten stay below. Drawn as a log-normal distribution: never below zero. */
export interface Spread {
  readonly median: number;
  readonly p90: number;
}

/** The 90th percentile of the standard normal distribution. */
const Z90 = 1.2815515655446004;
const KNUTH_MOST = 30;

/**
 * Numbers that look random, and are the same for the same seed. Each purpose has its own stream, so that a change of one
 * part of a scenario leaves the draws of the others as they were.
 */
export class Random {
  #state: number;

  constructor(seed: number, purpose: string) {
    // FNV-1a over the purpose, mixed with the seed.
    let hash = 0x811c9dc5 ^ seed;
    for (const character of purpose) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
    this.#state = hash >>> 0;
  }

  /** From 0 up to, but not including, 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  spread({ median, p90 }: Spread): number {
    return median * Math.exp((this.#normal() * Math.log(p90 / median)) / Z90);
  }

  /** How many of many rare events happen, given the average. */
  poisson(mean: number): number {
    if (mean <= 0) return 0;
    if (mean > KNUTH_MOST) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.#normal()));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.next(); product > limit; product *= this.next()) count += 1;
    return count;
  }

  // Box-Muller.
  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}
