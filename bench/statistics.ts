/** The value below which a share of the samples lies, between the two nearest where none is exactly there. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** The ratios of samples taken in the same round: what slows the whole machine down for a round slows both, and cancels. */
export function pairedRatios(samples: readonly number[], base: readonly number[]): readonly number[] {
  return samples.map((sample, round) => sample / (base[round] ?? Number.NaN));
}

/** Their median. */
export function pairedRatio(samples: readonly number[], base: readonly number[]): number {
  return median(pairedRatios(samples, base));
}
