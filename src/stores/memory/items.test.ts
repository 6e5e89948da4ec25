import { expect, test, vi } from "vitest";
import { Cold } from "./cold.ts";
import { Items } from "./items.ts";

function add(items: Items, kind: string, id: string): void {
  items.set({ kind, id, value: { of: id } }, 0);
}

test("a page is read only of its own kind, however many others have been moved away", () => {
  const cold = new Cold();
  const items = new Items(cold, 1_000);
  add(items, "few", "a");
  for (let count = 0; count < 50; count += 1) add(items, "many", `key-${count}`);
  items.spill();
  const looked = vi.spyOn(cold, "all");
  const page = { after: "", limit: 100, now: 0 };
  expect(items.page("few", page).map(({ id }) => id)).toEqual(["a"]);
  expect(looked).not.toHaveBeenCalled();
  expect(items.page("many", page)).toHaveLength(50);
  expect(looked).toHaveBeenCalledOnce();
  cold.close();
});
