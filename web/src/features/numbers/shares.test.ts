import { expect, test } from "vitest";
import { approvalShare, placeOf, share } from "./shares.ts";

test("a share is never rounded to all or to nothing", () => {
  expect([share(0, 0), share(0, 5), share(1, 1000), share(1, 3), share(999, 1000), share(5, 5)]).toEqual([
    "–",
    "0 %",
    "< 1 %",
    "33 %",
    "> 99 %",
    "100 %",
  ]);
  expect(approvalShare({ approved: 3, amended: 0, denied: 1 })).toBe("75 %");
});

test("durations lie between a second and a week", () => {
  expect([placeOf(0), placeOf(1), placeOf(7 * 86_400), placeOf(1e9)]).toEqual([0, 0, 100, 100]);
  expect(placeOf(60)).toBeLessThan(placeOf(3_600));
});
