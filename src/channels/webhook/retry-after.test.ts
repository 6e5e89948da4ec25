import { expect, test } from "vitest";
import { parseRetryAfter } from "./retry-after.ts";

test("Retry-After is read as seconds or as a date, and otherwise not at all", () => {
  const now = Date.UTC(2026, 0, 1);
  expect(parseRetryAfter("120", now)).toBe(120_000);
  expect(parseRetryAfter("Thu, 01 Jan 2026 00:01:00 GMT", now)).toBe(60_000);
  expect(parseRetryAfter("Thu, 01 Jan 2025 00:00:00 GMT", now)).toBe(0);
  for (const value of [null, "", "soon", "-1s", "1e9999"])
    expect(parseRetryAfter(value, now)).toBeUndefined();
});
