import fc from "fast-check";
import { expect, test } from "vitest";
import { mergedDurations, quantile, withDuration } from "./durations.ts";

const some = fc.array(fc.integer({ min: 1, max: 3_000_000_000 }), { minLength: 1, maxLength: 200 });

const count = (all: readonly number[]) => all.reduce(withDuration, {});

test("a quantile is at most 5 % off, however the durations are split over days", () => {
  fc.assert(
    fc.property(some, some, fc.constantFrom(0.5, 0.95, 1), (one, two, share) => {
      const found = quantile(mergedDurations(count(one), count(two)), share) ?? 0;
      const sorted = [...one, ...two].sort((a, b) => a - b);
      const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.05);
    }),
  );
});

test("of no durations there is no quantile", () => {
  expect(quantile({}, 0.5)).toBeUndefined();
});
