import { expect, test } from "vitest";
import { nextOrder } from "./frozen-order.ts";

test("while frozen nothing moves and news is counted", () => {
  expect(nextOrder(["a", "b"], ["n", "a", "m", "b"], true)).toEqual({ ids: ["a", "b"], waiting: 2 });
});

test("while frozen what is gone keeps its place", () => {
  expect(nextOrder(["a", "b"], ["b"], true)).toEqual({ ids: ["a", "b"], waiting: 0 });
});

test("otherwise the latest order is shown, and an empty list never hides news", () => {
  expect(nextOrder(["a"], ["n", "a"], false)).toEqual({ ids: ["n", "a"], waiting: 0 });
  expect(nextOrder([], ["n"], true)).toEqual({ ids: ["n"], waiting: 0 });
});
