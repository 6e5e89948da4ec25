import { expect, test } from "vitest";
import { heldUntil, holdEnd } from "./hold.ts";

const quiet = { timeZone: "UTC", from: "22:00", to: "07:00" };
const daily = { timeZone: "UTC", at: "09:00" };

function at(time: string): number {
  return Date.parse(`2026-01-${time}:00Z`);
}

test.each([
  ["nothing is held back without settings", {}, "01T23:00", undefined],
  ["what comes in quiet hours is held until they end", { quiet }, "01T23:00", "02T07:00"],
  ["what comes outside of them is not", { quiet }, "01T12:00", undefined],
  ["with a daily time, until that time", { daily }, "01T10:00", "02T09:00"],
  ["also shortly before it", { daily }, "01T08:59", "01T09:00"],
  ["at that minute it is told", { daily }, "01T09:00", undefined],
  ["a daily time at midnight", { daily: { timeZone: "UTC", at: "23:59" } }, "01T10:00", "01T23:59"],
  ["in the zone of the person", { daily: { timeZone: "Asia/Tokyo", at: "09:00" } }, "01T10:00", "02T00:00"],
  [
    "a daily time in quiet hours is when they end",
    { quiet, daily: { timeZone: "UTC", at: "06:00" } },
    "01T10:00",
    "02T07:00",
  ],
])("%s", (_what, timing, from, until) => {
  expect(holdEnd(at(from), timing)).toBe(until === undefined ? undefined : at(until));
});

test("what comes late is held back by quiet hours that began since", () => {
  expect(heldUntil({ at: at("01T21:59"), now: at("01T22:30") }, { quiet })).toBe(at("02T07:00"));
  expect(heldUntil({ at: at("01T21:59"), now: at("02T07:00") }, { quiet })).toBeUndefined();
  expect(heldUntil({ at: at("01T10:00"), now: at("02T08:00") }, { daily })).toBe(at("02T09:00"));
  expect(heldUntil({ at: at("01T10:00"), now: at("02T09:30") }, { daily })).toBeUndefined();
});
