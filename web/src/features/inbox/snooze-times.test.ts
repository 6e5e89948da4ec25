import { expect, test } from "vitest";
import { snoozeTimes } from "./snooze-times.ts";

const inWords = (now: Date): readonly string[] =>
  snoozeTimes(now).map(({ name, at }) => `${name}: ${at.toDateString()} ${at.getHours()}`);

test("a request can be put off for an hour, to the evening, to tomorrow, to Monday", () => {
  expect(inWords(new Date(2026, 10, 18, 10, 0))).toEqual([
    "In an hour: Wed Nov 18 2026 11",
    "This evening: Wed Nov 18 2026 18",
    "Tomorrow: Thu Nov 19 2026 9",
    "Next Monday: Mon Nov 23 2026 9",
  ]);
});

test("on an evening there is no evening left, and on a Monday the next one is meant", () => {
  expect(inWords(new Date(2026, 10, 16, 17, 30))).toEqual([
    "In an hour: Mon Nov 16 2026 18",
    "Tomorrow: Tue Nov 17 2026 9",
    "Next Monday: Mon Nov 23 2026 9",
  ]);
});
