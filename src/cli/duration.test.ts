import { expect, test } from "vitest";
import { absoluteTime, parseDuration, relativeTime } from "./duration.ts";

test("an age is a number and a unit", () => {
  expect(parseDuration("90s", "x")).toBe(90_000);
  expect(parseDuration("30d", "x")).toBe(30 * 86_400_000);
  expect(parseDuration("2w", "x")).toBe(14 * 86_400_000);
  for (const text of ["", "30", "d", "-1d", "1.5h", "30 d", "9999999d"])
    expect(() => parseDuration(text, "older-than"), text).toThrow("Invalid --older-than");
});

test("a moment is told from now", () => {
  expect(relativeTime(1_000, 1_200)).toBe("now");
  expect(relativeTime(0, 45_000)).toBe("45s ago");
  expect(relativeTime(3_600_000, 1)).toBe("in 59m");
  expect(relativeTime(0, 47 * 3_600_000)).toBe("47h ago");
  expect(relativeTime(0, 72 * 3_600_000)).toBe("3d ago");
  expect(absoluteTime(0)).toBe("1970-01-01 00:00:00Z");
});
