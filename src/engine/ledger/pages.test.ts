import { expect, test } from "vitest";
import type { Page, PageRequest } from "./lists.ts";
import { allOf, eachOf, pagesOf } from "./pages.ts";

const WORDS = ["a", "b", "c", "d", "e"];

function reader(asked: PageRequest[]): (request: PageRequest) => Promise<Page<string>> {
  return async (request) => {
    asked.push(request);
    const { cursor = "0", limit = 2 } = request;
    const end = Number(cursor) + limit;
    return {
      items: WORDS.slice(Number(cursor), end),
      ...(end < WORDS.length ? { next: String(end) } : {}),
    };
  };
}

test("a list is read to its end, in pages of the wanted size", async () => {
  const asked: PageRequest[] = [];
  const pages: (readonly string[])[] = [];
  for await (const items of pagesOf(reader(asked), 3)) pages.push(items);
  expect(pages).toEqual([
    ["a", "b", "c"],
    ["d", "e"],
  ]);
  expect(asked).toEqual([{ limit: 3 }, { limit: 3, cursor: "3" }]);
});

test("without a size, the list decides it", async () => {
  const asked: PageRequest[] = [];
  expect(await allOf(reader(asked))).toEqual(WORDS);
  expect(asked).toEqual([{}, { cursor: "2" }, { cursor: "4" }]);
});

test("the next page is read only when the one before it has been dealt with", async () => {
  const asked: PageRequest[] = [];
  for await (const word of eachOf(reader(asked))) if (word === "b") break;
  expect(asked).toEqual([{}]);
});
