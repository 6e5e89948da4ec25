import { CountersignError } from "../protocol/index.ts";

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Reads `90s`, `15m`, `12h`, `30d` or `2w`. Throws `invalid-option`, with the flag's name, for anything else. */
export function parseDuration(text: string, flag: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new CountersignError(
      "invalid-option",
      `Invalid --${flag} "${text}". Use a number and a unit, for example 90s, 12h, 30d or 2w.`,
      { details: { field: flag } },
    );
  }
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** The largest unit that fits: `45s`, `12m`, `3h`, `5d`. */
export function shortDuration(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < UNITS_MS.m) return `${Math.floor(whole / UNITS_MS.s)}s`;
  if (whole < UNITS_MS.h) return `${Math.floor(whole / UNITS_MS.m)}m`;
  if (whole < 2 * UNITS_MS.d) return `${Math.floor(whole / UNITS_MS.h)}h`;
  return `${Math.floor(whole / UNITS_MS.d)}d`;
}

/** A duration, exactly, in the largest unit that divides it: `1h`, `90m`. */
export function exactDuration(ms: number): string {
  for (const [unit, size] of Object.entries(UNITS_MS).reverse())
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`;
  return `${ms}ms`;
}

/** `in 12m`, `3h ago`, or `now`. */
export function relativeTime(at: number, now: number): string {
  if (Math.abs(at - now) < UNITS_MS.s) return "now";
  return at >= now ? `in ${shortDuration(at - now)}` : `${shortDuration(now - at)} ago`;
}

/** `2026-11-15 04:20:11Z`: the same on every machine. */
export function absoluteTime(at: number): string {
  return new Date(at)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "Z");
}

/** A moment, and how far it is from now. */
export function describeTime(at: number, now: number): string {
  return `${absoluteTime(at)} (${relativeTime(at, now)})`;
}
