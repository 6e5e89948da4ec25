const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span as a person says it: `4 min`, `2 h 10 min`, `3 days`. The last minute is counted in seconds. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < 10 * MINUTE) return `${Math.floor(seconds / MINUTE)} min ${pad(seconds % MINUTE)} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY)
    return `${Math.floor(seconds / HOUR)} h ${pad(Math.floor((seconds % HOUR) / MINUTE))} min`;
  const days = Math.floor(seconds / DAY);
  return `${days} ${days === 1 ? "day" : "days"}`;
}

/** How long ago, in words that need no counting. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 10) return "just now";
  if (seconds < MINUTE) return `${seconds} s ago`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`;
  const days = Math.floor(seconds / DAY);
  return `${days} ${days === 1 ? "day" : "days"} ago`;
}

const FULL = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});
const ZONED = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

/** In the reader's own time zone, which it names. */
export function zoned(iso: string): string {
  return ZONED.format(new Date(iso));
}

const OF_DAY = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
});

/** A time to come, as a sentence begins with it: `At 15:07 UTC` today, with the date on any other day. */
export function until(iso: string, now: number): string {
  const isToday = new Date(iso).toDateString() === new Date(now).toDateString();
  return isToday ? `At ${OF_DAY.format(new Date(iso))}` : `On ${zoned(iso)}`;
}

const TO_THE_SECOND = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** `14:03:05`, where the reader is. */
export function timeOfDay(iso: string): string {
  return TO_THE_SECOND.format(new Date(iso));
}

export function full(iso: string): string {
  return FULL.format(new Date(iso));
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
