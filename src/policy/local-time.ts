/** A moment as a clock on the wall shows it. The names and days are those of conditions. */
export interface LocalTime {
  /** For example `2026-11-16`. */
  readonly date: string;
  /** `mon`, `tue`, `wed`, `thu`, `fri`, `sat` or `sun`. */
  readonly weekday: string;
  readonly year: bigint;
  /** 1 to 12. */
  readonly month: bigint;
  readonly day: bigint;
  readonly hour: bigint;
  readonly minute: bigint;
}

/** A time zone: what clocks there show. */
export interface TimeZone {
  at(moment: number): LocalTime;
}

const SHOWN = {
  calendar: "iso8601",
  hourCycle: "h23",
  weekday: "short",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
} as const;

/** The time zone of this name; undefined if there is none. */
export function timeZoneOf(name: string): TimeZone | undefined {
  const format = formatOf(name);
  return format === undefined ? undefined : { at: (moment) => shown(format, moment) };
}

let utcFormat: Intl.DateTimeFormat | undefined;

/** The time zone of policies that name none. Its tables are read when a condition first asks for the time. */
export const UTC: TimeZone = {
  at: (moment) => {
    utcFormat ??= new Intl.DateTimeFormat("en-US", { ...SHOWN, timeZone: "UTC" });
    return shown(utcFormat, moment);
  },
};

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { ...SHOWN, timeZone });
  } catch {
    return undefined;
  }
}

function shown(format: Intl.DateTimeFormat, moment: number): LocalTime {
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]));
  const { year = "", month = "", day = "", hour = "", minute = "", weekday = "" } = parts;
  return {
    date: `${year}-${month}-${day}`,
    weekday: weekday.toLowerCase(),
    year: BigInt(year),
    month: BigInt(month),
    day: BigInt(day),
    hour: BigInt(hour),
    minute: BigInt(minute),
  };
}
