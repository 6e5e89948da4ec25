import { expect, test } from "vitest";
import { TransientMap } from "./transient-map.ts";

test("keeps what is in it, in order, however much comes and goes", () => {
  const map = new TransientMap<string, number>();
  map.set("stays", 1);
  for (let n = 0; n < 1_000; n += 1) {
    map.set(`passes ${n}`, n);
    expect(map.delete(`passes ${n}`)).toBe(true);
    expect(map.delete(`passes ${n}`)).toBe(false);
  }
  map.set("stays, too", 2);
  expect(map.size).toBe(2);
  expect([...map.entries()]).toEqual([
    ["stays", 1],
    ["stays, too", 2],
  ]);
  expect([...map.keys()]).toEqual(["stays", "stays, too"]);
  expect([...map.values()]).toEqual([1, 2]);
  expect(map.has("passes 7")).toBe(false);
});

test("can be emptied while it is looked through", () => {
  const map = new TransientMap<number, number>();
  for (let n = 0; n < 500; n += 1) map.set(n, n);
  const seen: number[] = [];
  for (const key of map.keys()) {
    seen.push(key);
    map.delete(key);
  }
  expect(seen).toEqual(Array.from({ length: 500 }, (_, n) => n));
  expect(map.size).toBe(0);
});

test("what is removed and comes again is the newest", () => {
  const map = new TransientMap<string, number>();
  for (const name of ["a", "b"]) map.set(name, 1);
  map.delete("a");
  map.set("a", 2);
  expect([...map.keys()]).toEqual(["b", "a"]);
  expect(map.get("a")).toBe(2);
});
