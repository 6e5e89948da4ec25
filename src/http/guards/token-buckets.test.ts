import { expect, test } from "vitest";
import { TokenBuckets } from "./token-buckets.ts";

test("everyone has so many at once, and then one by one as time passes", () => {
  let now = 0;
  const buckets = new TokenBuckets(60, () => now);
  for (let taken = 0; taken < 60; taken += 1) expect(buckets.take("ana")).toBe(0);
  expect(buckets.take("ana")).toBe(1_000);
  now += 400;
  expect(buckets.take("ana")).toBe(600);
  now += 600;
  expect(buckets.take("ana")).toBe(0);
  expect(buckets.take("ana")).toBe(1_000);
  expect(buckets.take("bob")).toBe(0);
});

test("nobody saves up more than a minute's worth", () => {
  let now = 0;
  const buckets = new TokenBuckets(2, () => now);
  buckets.take("ana");
  now += 3_600_000;
  expect([1, 2, 3].map(() => buckets.take("ana"))).toEqual([0, 0, 30_000]);
});

test("fewer may come at once than in a minute", () => {
  let now = 0;
  const buckets = new TokenBuckets(60, () => now, 2);
  expect([1, 2, 3].map(() => buckets.take("ana"))).toEqual([0, 0, 1_000]);
  now += 60_000;
  expect([1, 2, 3].map(() => buckets.take("ana"))).toEqual([0, 0, 1_000]);
});

test("a flood of names costs no more memory than so many, and lets nobody begin anew who goes on", () => {
  const buckets = new TokenBuckets(1, () => 0);
  buckets.take("ana");
  for (let name = 0; name < 30_000; name += 1) {
    expect(buckets.take(`address ${name}`)).toBe(0);
    if (name % 1_000 === 0) expect(buckets.take("ana")).toBe(60_000);
  }
  expect(buckets.size).toBeLessThanOrEqual(10_000);
  expect(buckets.take("address 0")).toBe(0);
});
