import { expect, test } from "vitest";
import { mixedWords } from "./scripts.ts";

test("a word that mixes look-alike scripts is found, and no other", () => {
  expect(mixedWords("pay p\u0430ypal.com, not paypal.com; Привет, мир; Ελλάδα; Ωmega")).toEqual([
    "p\u0430ypal",
    "Ωmega",
  ]);
  expect(mixedWords("naïve 東京 مرحبا café")).toEqual([]);
});
