import { expect, test } from "vitest";
import { shortCount } from "./short-count.ts";

test.each([
  [0, "0"],
  [30, "30"],
  [999, "999"],
  [1000, "1k"],
  [1001, "1k+"],
  [9999, "9k+"],
  [10_000, "10k"],
])("%d is told as %s", (count, told) => {
  expect(shortCount(count)).toBe(told);
});
