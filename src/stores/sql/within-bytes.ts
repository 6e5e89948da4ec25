import type { Row } from "./row.ts";

/**
 * The number of the last of these rows, each a number and its size, up to which all are no more than so many bytes
 * together. The first always counts; undefined where there is none.
 */
export function lastWithin(sizes: readonly Row[], bytes: number): number | undefined {
  let left = bytes;
  let last: number | undefined;
  for (const [number, size] of sizes) {
    left -= (size ?? 0) as number;
    if (left < 0 && last !== undefined) return last;
    last = number as number;
  }
  return last;
}
