/**
 * How many durations fell into each bucket, by its number. Each bucket is a tenth longer than the one before it, so a
 * quantile is at most 5 % off, however many durations there are. Plain data, so that it can be stored.
 */
export type Durations = Readonly<Record<string, number>>;

const GROWTH = 1.1;

export function withDuration(durations: Durations, ms: number): Durations {
  const bucket = String(Math.max(0, Math.ceil(Math.log(Math.max(ms, 1)) / Math.log(GROWTH))));
  return { ...durations, [bucket]: (durations[bucket] ?? 0) + 1 };
}

export function mergedDurations(a: Durations, b: Durations): Durations {
  const sum: Record<string, number> = { ...a };
  for (const [bucket, count] of Object.entries(b)) sum[bucket] = (sum[bucket] ?? 0) + count;
  return sum;
}

/** The duration in milliseconds that this share of all does not exceed; undefined of none. */
export function quantile(durations: Durations, share: number): number | undefined {
  const buckets = Object.entries(durations)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.max(1, Math.ceil(total * share));
  for (const [bucket, count] of buckets) {
    left -= count;
    // The middle of the bucket: as far from its lower bound as from its upper one, in proportion.
    if (left <= 0) return (2 * GROWTH ** bucket) / (GROWTH + 1);
  }
  return undefined;
}
