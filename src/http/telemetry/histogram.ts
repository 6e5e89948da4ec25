/** A histogram of durations. Plain data, so that it can be stored. */
export interface Histogram {
  /** How many fell into each bucket, not counting those of smaller ones; the last is for all beyond. */
  readonly counts: readonly number[];
  readonly sum: number;
}

export function emptyHistogram(buckets: readonly number[]): Histogram {
  return { counts: [...buckets.map(() => 0), 0], sum: 0 };
}

export function observed(histogram: Histogram, buckets: readonly number[], value: number): Histogram {
  const found = buckets.findIndex((bound) => value <= bound);
  const place = found === -1 ? buckets.length : found;
  return {
    counts: histogram.counts.map((count, i) => (i === place ? count + 1 : count)),
    sum: histogram.sum + value,
  };
}
