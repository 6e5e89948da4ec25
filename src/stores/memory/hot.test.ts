import { expect, test } from "vitest";
import { Hot } from "./hot.ts";

function filled(): Hot<string, number> {
  const hot = new Hot<string, number>(4, () => 1);
  for (const [at, key] of ["a", "b", "c", "d", "e"].entries()) hot.set(key, at);
  return hot;
}

test("gives the oldest half away once there is too much", () => {
  const hot = filled();
  const stored: number[] = [];
  hot.spill((oldest) => stored.push(...oldest));
  expect(stored).toEqual([0, 1, 2]);
  expect([...hot.values()]).toEqual([3, 4]);
  hot.spill(() => expect.unreachable());
});

test("keeps what could not be stored elsewhere, and tries again", () => {
  const hot = filled();
  hot.spill(() => {
    throw new Error("out of memory");
  });
  expect([...hot.values()]).toEqual([0, 1, 2, 3, 4]);
  hot.spill(() => {});
  expect([...hot.values()]).toEqual([3, 4]);
});
