import type { StatisticsNumbers } from "countersign/client";

/** A share of a whole as a person says it; of nothing there is none. */
export function share(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 1) return "< 1 %";
  if (percent > 99 && percent < 100) return "> 99 %";
  return `${Math.round(percent)} %`;
}

/** Of what was decided, how much was approved. */
export function approvalShare({ approved, denied }: StatisticsNumbers): string {
  return share(approved, approved + denied);
}

const LONGEST_SECONDS = 7 * 86_400;

/** Where a duration lies between a second and a week, from 0 to 100: each step to the right is a longer one. */
export function placeOf(seconds: number): number {
  const place = Math.log(Math.max(1, seconds)) / Math.log(LONGEST_SECONDS);
  return Math.min(100, Math.round(1000 * place) / 10);
}
