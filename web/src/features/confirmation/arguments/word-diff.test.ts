import { expect, test } from "vitest";
import { wordDiff } from "./word-diff.ts";

test("only the words that differ are marked", () => {
  expect(wordDiff("daily: 100", "daily: 1000")).toEqual({
    before: [
      { text: "daily: ", isChanged: false },
      { text: "100", isChanged: true },
    ],
    after: [
      { text: "daily: ", isChanged: false },
      { text: "1000", isChanged: true },
    ],
  });
});

test("lines without a common word are not compared", () => {
  expect(wordDiff("one", "two")).toBeUndefined();
});

test("what is marked and what is not is the whole line", () => {
  const { before = [], after = [] } = wordDiff("pay 5 € to Ana", "pay 7 € to Bo, now") ?? {};
  expect(before.map(({ text }) => text).join("")).toBe("pay 5 € to Ana");
  expect(after.map(({ text }) => text).join("")).toBe("pay 7 € to Bo, now");
});
