import { expect, test } from "vitest";
import { changedLines, changeOnOneLine } from "./change.ts";

test("a short change is told on one line, also of what was not there before", () => {
  expect(changeOnOneLine(2500, 2000)).toBe("2500 → 2000");
  expect(changeOnOneLine(undefined, "x\u001b[2J")).toBe('nothing → "x\\u001b[2J"');
});

test("of a long text only the lines that differ are told", () => {
  expect(
    changedLines("Hello Maria,\n\nit is paid.\n\nRegards", "Hello Maria,\n\nit is paid today.\n\nRegards"),
  ).toBe("- it is paid.\n+ it is paid today.");
});

test.each([
  ["the same line twice", "a\na", "a", "- a"],
  ["a line more at the end", "a", "a\nb", "+ b"],
  ["all of it", "a", { b: 1 }, '- a\n+ {\n+   "b": 1\n+ }'],
  ["what was not there", undefined, "a\nb", "+ a\n+ b"],
])("the lines that differ: %s", (_, before, after, expected) => {
  expect(changedLines(before, after)).toBe(expected);
});
