import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";

test("does not run until it is moved, and moves both of its times together", async () => {
  const clock = new ManualClock(1_000);
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0]);
  await clock.advance(250);
  expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250]);
});

test("lets the wall clock be set without any time passing", () => {
  const clock = new ManualClock(1_000);
  clock.shiftWall(-400);
  expect([clock.now(), clock.monotonic()]).toEqual([600, 0]);
});

test("wakes those whose time has come, and no others", async () => {
  const clock = new ManualClock();
  const woken: number[] = [];
  for (const ms of [30, 10, 20]) {
    clock.sleep(ms).then(
      () => woken.push(ms),
      () => {},
    );
  }
  await clock.advance(9);
  expect(woken).toEqual([]);
  await clock.advance(11);
  expect(woken).toEqual([10, 20]);
  await clock.advance(10);
  expect(woken).toEqual([10, 20, 30]);
});

test("lets whoever aborts wake at once, before or during the sleep", async () => {
  const clock = new ManualClock();
  await clock.sleep(1_000, AbortSignal.abort());
  await clock.sleep(0);
  await clock.sleep(-1);
  const stop = new AbortController();
  const sleeping = clock.sleep(1_000, stop.signal);
  stop.abort();
  await sleeping;
  expect(clock.monotonic()).toBe(0);
});
