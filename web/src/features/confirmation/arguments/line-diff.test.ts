import fc from "fast-check";
import { expect, test } from "vitest";
import { lineDiff } from "./line-diff.ts";

test("what changes is told by lines", () => {
  expect(lineDiff("a\nb\nc", "a\nB\nc\nd").map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    "same a",
    "removed b",
    "added B",
    "same c",
    "added d",
  ]);
});

test("both texts can be read from any diff", () => {
  const text = fc.array(fc.constantFrom("a", "b", "", "c ")).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = lineDiff(before, after);
      const side = (left: "removed" | "added"): string =>
        diff.flatMap(({ kind, text: line }) => (kind === "same" || kind === left ? [line] : [])).join("\n");
      expect(side("removed")).toBe(before);
      expect(side("added")).toBe(after);
    }),
  );
});

const long = (word: string): string =>
  Array.from({ length: 5000 }, (_, index) => `${word}${index}`).join("\n");

test("very long texts are compared as a whole", () => {
  expect(lineDiff(long("a"), long("b"))).toHaveLength(10_000);
});
