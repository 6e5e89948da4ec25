import { expect, test } from "vitest";
import { jitter, systemClock } from "./clock.ts";

test("monotonic time only goes forward, and now is the machine's", () => {
  const before = systemClock.monotonic();
  expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before);
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000);
});

test("a sleep ends after its time, never before", async () => {
  const before = performance.now();
  await systemClock.sleep(5);
  // Timers may fire up to a millisecond early by the finer clock.
  expect(performance.now() - before).toBeGreaterThanOrEqual(4);
});

test("a sleep ends at once when its signal aborts, or had aborted", async () => {
  const stop = new AbortController();
  const sleeping = systemClock.sleep(1_000_000, stop.signal);
  stop.abort();
  await sleeping;
  await systemClock.sleep(1_000_000, stop.signal);
  expect(stop.signal.aborted).toBe(true);
});

test("a sleep longer than a timer can hold does not end at once", async () => {
  const stop = new AbortController();
  let isOver = false;
  const sleeping = systemClock.sleep(Number.MAX_SAFE_INTEGER, stop.signal).then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(isOver).toBe(false);
  stop.abort();
  await sleeping;
});

test("jitter stays within its bounds and is not constant", () => {
  const values = Array.from({ length: 100 }, () => jitter(4));
  for (const value of values) {
    expect(value).toBeGreaterThanOrEqual(0);
    expect(value).toBeLessThan(4);
  }
  expect(new Set(values).size).toBeGreaterThan(10);
});
