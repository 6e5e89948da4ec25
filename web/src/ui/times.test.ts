import { expect, test } from "vitest";
import { ago, span, until } from "./times.ts";

test("spans are told as a person would", () => {
  const MINUTE = 60_000;
  expect([-5, 4_000, 61_000, 59 * MINUTE, 61 * MINUTE, 25 * 60 * MINUTE, 72 * 60 * MINUTE].map(span)).toEqual(
    ["0 s", "4 s", "1 min 01 s", "59 min", "1 h 01 min", "1 day", "3 days"],
  );
  expect([0, 30_000, 5 * MINUTE, 120 * MINUTE, 48 * 60 * MINUTE].map(ago)).toEqual([
    "just now",
    "30 s ago",
    "5 min ago",
    "2 h ago",
    "2 days ago",
  ]);
});

test("a time to come has its date only where that is another day", () => {
  const noon = new Date(2026, 10, 16, 12).getTime();
  expect(until(new Date(noon + 3_600_000).toISOString(), noon)).toMatch(/^At \D*0?1:00\D/);
  expect(until(new Date(noon + 86_400_000).toISOString(), noon)).toMatch(/^On .*2026/);
});
