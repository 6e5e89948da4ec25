import fc from "fast-check";
import { expect, test } from "vitest";
import { isTimeZone, type QuietHours, quietUntil } from "./quiet-hours.ts";

const BERLIN: QuietHours = { timeZone: "Europe/Berlin", from: "22:00", to: "07:00" };
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"];
const MINUTE_MS = 60_000;

test.each<[string, string, QuietHours, string | undefined]>([
  ["in the evening", "2026-01-10T21:30:00Z", BERLIN, "2026-01-11T06:00:00Z"],
  ["after midnight", "2026-01-11T03:00:59Z", BERLIN, "2026-01-11T06:00:00Z"],
  ["at their first minute", "2026-01-10T21:00:00Z", BERLIN, "2026-01-11T06:00:00Z"],
  ["at their last minute", "2026-01-11T05:59:59Z", BERLIN, "2026-01-11T06:00:00Z"],
  ["at their end", "2026-01-11T06:00:00Z", BERLIN, undefined],
  ["by day", "2026-01-11T12:00:00Z", BERLIN, undefined],
  ["in summer", "2026-07-10T21:30:00Z", BERLIN, "2026-07-11T05:00:00Z"],
  ["in the night that loses an hour", "2026-03-28T22:00:00Z", BERLIN, "2026-03-29T05:00:00Z"],
  ["in the night that has one more", "2026-10-24T22:00:00Z", BERLIN, "2026-10-25T06:00:00Z"],
  // 02:30 does not exist on that day: the clock goes from 02:00 to 03:00.
  [
    "that would end in an hour that is left out",
    "2026-03-29T00:30:00Z",
    { ...BERLIN, to: "02:30" },
    "2026-03-29T01:00:00Z",
  ],
  [
    "that begin in an hour that is left out",
    "2026-03-29T00:59:00Z",
    { ...BERLIN, from: "02:30", to: "04:00" },
    undefined,
  ],
  // 02:30 comes twice.
  [
    "that end in an hour that comes twice",
    "2026-10-24T22:00:00Z",
    { ...BERLIN, to: "02:30" },
    "2026-10-25T00:30:00Z",
  ],
  [
    "within a day",
    "2026-01-10T12:00:00Z",
    { timeZone: "UTC", from: "11:45", to: "13:15" },
    "2026-01-10T13:15:00Z",
  ],
])("quiet hours %s", (_when, now, quiet, until) => {
  const found = quietUntil(Date.parse(now), quiet);
  expect(found === undefined ? undefined : new Date(found).toISOString()).toBe(until?.replace("Z", ".000Z"));
});

test("they end at the first minute that is not quiet, whatever zone and time", () => {
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map((parts) => parts.map((part) => String(part).padStart(2, "0")).join(":"));
  const start = Date.UTC(2026, 0, 1);
  const minute = fc.integer({ min: 0, max: 365 * 24 * 60 });
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), time, time, minute, (timeZone, from, to, at) => {
      fc.pre(from !== to);
      const quiet = { timeZone, from, to };
      const now = start + at * MINUTE_MS;
      const until = quietUntil(now, quiet);
      if (until === undefined) return;
      expect(until).toBeGreaterThan(now);
      expect(quietUntil(until, quiet)).toBeUndefined();
      expect(quietUntil(until - MINUTE_MS, quiet)).toBe(until);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ["UTC", true],
  ["Europe/Berlin", true],
  ["Berlin", false],
  ["Europe/Berlin; drop", false],
  ["", false],
])("%s is a time zone: %s", (name, is) => {
  expect(isTimeZone(name)).toBe(is);
});
