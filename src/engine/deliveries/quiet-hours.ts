/** When somebody wants no messages, every day, in their time zone. */
export interface QuietHours {
  /** Such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** `HH:MM`. If it is later than `to`, the quiet hours go over midnight. */
  readonly from: string;
  readonly to: string;
}

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;
// No change of a clock is looked past: none is shorter than half an hour.
const MOST_STEP = 30;

/** Does this machine know the time zone? */
export function isTimeZone(timeZone: string): boolean {
  try {
    return localMinutes(timeZone)(0) >= 0;
  } catch {
    return false;
  }
}

/**
 * When the quiet hours end; undefined outside of them. It is the first whole minute that is not quiet, also on days on
 * which the clock is changed.
 */
export function quietUntil(now: number, { timeZone, from, to }: QuietHours): number | undefined {
  const minutesAt = localMinutes(timeZone);
  const [start, end] = [toMinutes(from), toMinutes(to)];
  const isQuiet = (at: number): boolean => {
    const minute = minutesAt(at);
    return start < end ? minute >= start && minute < end : minute >= start || minute < end;
  };
  if (!isQuiet(now)) return undefined;
  for (let at = Math.floor(now / MINUTE_MS) * MINUTE_MS; ; ) {
    const left = (end - minutesAt(at) + DAY_MINUTES) % DAY_MINUTES;
    const next = at + Math.max(1, Math.min(left, MOST_STEP)) * MINUTE_MS;
    if (!isQuiet(next)) return firstNotQuiet(at, next, isQuiet);
    at = next;
  }
}

function firstNotQuiet(after: number, until: number, isQuiet: (at: number) => boolean): number {
  for (let at = after + MINUTE_MS; at < until; at += MINUTE_MS) if (!isQuiet(at)) return at;
  return until;
}

/** The minute of the day, as clocks there show it. */
function localMinutes(timeZone: string): (at: number) => number {
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
  return (at) => toMinutes(clock.format(at));
}

function toMinutes(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return hours * HOUR_MINUTES + minutes;
}
