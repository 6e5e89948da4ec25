import { expect, test } from "vitest";
import { differenceSentence, examplesTitle } from "./replay-words.ts";

test("a difference is told with what people decided", () => {
  expect(differenceSentence("Would stop asking", { count: 41, approved: 39, denied: 2, examples: [] })).toBe(
    "Would stop asking 41 times; people approved 39 and denied 2 of those",
  );
  expect(differenceSentence("Would newly ask", { count: 1, approved: 0, denied: 0, examples: [] })).toBe(
    "Would newly ask once",
  );
});

test("the list says which calls it shows, and whether there are more", () => {
  expect(examplesTitle({ count: 41, approved: 39, denied: 2, examples: ["a", "b"] })).toBe(
    "denied by people",
  );
  expect(examplesTitle({ count: 41, approved: 20, denied: 21, examples: ["a"] })).toBe(
    "denied by people, the first 1",
  );
  expect(examplesTitle({ count: 2, approved: 0, denied: 0, examples: ["a", "b"] })).toBe("for example");
});
