import type { NotificationSettings } from "./notification-settings.ts";
import { quietUntil } from "./quiet-hours.ts";

const DAY_MINUTES = 24 * 60;

/** A time of day. */
export interface DailyTime {
  /** Such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** `HH:MM`. */
  readonly at: string;
}

/** How somebody wants to be told, as far as time goes. */
type Timing = Pick<NotificationSettings, "quiet" | "daily">;

/** Until when something that happened at `at` is held back; undefined if it is told at once. */
export function holdEnd(at: number, { quiet, daily }: Timing): number | undefined {
  const due = daily === undefined ? at : nextTime(at, daily);
  const end = (quiet === undefined ? undefined : quietUntil(due, quiet)) ?? due;
  return end > at ? end : undefined;
}

/** Until when it is held back as of now: it may come late, and into quiet hours that began since. */
export function heldUntil(
  { at, now }: { readonly at: number; readonly now: number },
  timing: Timing,
): number | undefined {
  const end = holdEnd(at, timing);
  if (end !== undefined && end > now) return end;
  return timing.quiet === undefined ? undefined : quietUntil(now, timing.quiet);
}

/** The next time that clocks there show it, to the minute. */
function nextTime(from: number, { timeZone, at }: DailyTime): number {
  const [hours = 0, minutes = 0] = at.split(":").map(Number);
  const after = (hours * 60 + minutes + 1) % DAY_MINUTES;
  const written = `${String(Math.floor(after / 60)).padStart(2, "0")}:${String(after % 60).padStart(2, "0")}`;
  // All day but that minute.
  return quietUntil(from, { timeZone, from: written, to: at }) ?? from;
}
