const HOUR_MS = 3_600_000;
const MORNING = 9;
const EVENING = 18;
const MONDAY = 1;

export interface SnoozeTime {
  readonly name: string;
  readonly at: Date;
}

/** When a request may come back, from `now` on; a time that is less than an hour away is left out. */
export function snoozeTimes(now: Date): readonly SnoozeTime[] {
  const untilMonday = (MONDAY - now.getDay() + 7) % 7 || 7;
  const times = [
    { name: "In an hour", at: new Date(now.getTime() + HOUR_MS) },
    { name: "This evening", at: dayAt(now, 0, EVENING) },
    { name: "Tomorrow", at: dayAt(now, 1, MORNING) },
    { name: "Next Monday", at: dayAt(now, untilMonday, MORNING) },
  ];
  return times.filter(({ at }) => at.getTime() - now.getTime() >= HOUR_MS);
}

function dayAt(now: Date, days: number, hour: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
}
