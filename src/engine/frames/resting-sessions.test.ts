import { expect, test } from "vitest";
import { ManualClock } from "../common/manual-clock.ts";
import { RestingSessions } from "./resting-sessions.ts";
import { SessionCache } from "./session-cache.ts";

const MINUTE_MS = 60_000;

test("a session rests for some minutes, and is then forgotten without being asked for", async () => {
  const clock = new ManualClock();
  const resting = new RestingSessions(clock);
  const [first, second] = [new SessionCache(), new SessionCache()];
  resting.add("first", first);
  await clock.advance(4 * MINUTE_MS);
  resting.add("second", second);
  await clock.advance(MINUTE_MS);
  resting.forgetOld();
  expect(resting.size).toBe(1);
  expect(resting.take("second")).toBe(second);
  expect(resting.take("second")).toBeUndefined();
});

test("a session that rested too long is not used", async () => {
  const clock = new ManualClock();
  const resting = new RestingSessions(clock);
  resting.add("s", new SessionCache());
  await clock.advance(5 * MINUTE_MS);
  expect(resting.take("s")).toBeUndefined();
});

test("of very many sessions the oldest do not rest", () => {
  const resting = new RestingSessions(new ManualClock());
  for (let n = 0; n < 300; n++) resting.add(`s${n}`, new SessionCache());
  expect(resting.size).toBe(256);
  expect(resting.take("s43")).toBeUndefined();
  expect(resting.take("s44")).toBeDefined();
});

function cacheOf(bytes: number): SessionCache {
  return { bytes } as SessionCache;
}

test("long sessions rest too, as many as fit together; the oldest make room", () => {
  const resting = new RestingSessions(new ManualClock());
  for (const name of ["a", "b"]) resting.add(name, cacheOf(8_000_000));
  expect(resting.size).toBe(2);
  resting.add("c", cacheOf(1));
  expect(resting.size).toBe(2);
  expect(resting.take("a")).toBeUndefined();
  // What was taken makes room, and what comes again is counted once.
  expect(resting.take("b")?.bytes).toBe(8_000_000);
  for (const bytes of [9_000_000, 15_000_000]) resting.add("d", cacheOf(bytes));
  expect(resting.take("c")?.bytes).toBe(1);
  expect(resting.take("d")?.bytes).toBe(15_000_000);
});

test("a session that is longer than all of them may be does not rest", () => {
  const resting = new RestingSessions(new ManualClock());
  resting.add("s", cacheOf(16_000_001));
  expect(resting.size).toBe(0);
});
