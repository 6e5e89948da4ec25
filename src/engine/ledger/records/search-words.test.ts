import { describe, expect, test } from "vitest";
import { searchableWords, wordsOf } from "./search-words.ts";

test("a word is the same whatever its case, its accents and how they are written", () => {
  const forms = ["Café", "CAFÉ", "cafe\u0301", "ｃａｆｅ"];
  expect(new Set(forms.flatMap(wordsOf))).toEqual(new Set(["CAFE"]));
  expect(wordsOf("ΟΔΟΣ οδος οδός")).toEqual(["ΟΔΟΣ"]);
  expect(wordsOf("straße STRASSE")).toEqual(["STRASSE"]);
});

test("whatever is not a letter or a digit only separates words", () => {
  expect(wordsOf("a-b_c.d\u0000e\u200bf'g\"h*i\ud800j")).toEqual("ABCDEFGHIJ".split(""));
  expect(wordsOf(" *'\"() \u0000 ")).toEqual([]);
  expect(wordsOf("हिन्दी")).toHaveLength(1);
});

test("names and values at any depth are found, secrets are not", () => {
  const args = { to: ["bob", { iban: "DE02", ok: true, n: -1.5, nothing: null }], pin: "swordfish" };
  const words = searchableWords({ tool: "wire_funds", agent: "desk" }, { args, secrets: ["/pin"] });
  expect(words).toEqual(
    expect.arrayContaining(["WIRE", "FUNDS", "DESK", "TO", "BOB", "IBAN", "DE02", "TRUE", "1", "5"]),
  );
  expect(words).not.toContain("SWORDFISH");
});

test("endless arguments give no more than some thousand words, and the tool is among them", () => {
  const args = { list: Array.from({ length: 200_000 }, (_, i) => `w${i}`) };
  const words = searchableWords({ tool: "bulk", agent: "desk" }, { args, secrets: [] });
  expect(words).toHaveLength(4_000);
  expect(words).toContain("BULK");
});

describe("marks without end", () => {
  const LONG = 400_000;

  test.each([
    ["in an order that normalizing has to sort", `a${"\u0301".repeat(LONG)}${"\u0316".repeat(LONG)}`],
    ["two by two", `a${"\u0316\u0301".repeat(LONG)}`],
    ["broken by a letter that becomes one", `a${`${"\u0301".repeat(30)}\uff9e`.repeat(LONG / 30)}`],
  ])("take time in proportion to the text: %s", (_what, text) => {
    const began = performance.now();
    wordsOf(text);
    // The square of this length would take an hour.
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("no other letters become marks when they are taken apart", () => {
    const becomeMarks = Array.from({ length: 0x110000 }, (_, code) => code)
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code))
      .filter((letter) => !/\p{M}/u.test(letter) && /^\p{M}+$/u.test(letter.normalize("NFKD")));
    expect(becomeMarks).toEqual(["\uff9e", "\uff9f"]);
  });

  test("a word keeps the marks that any language has", () => {
    expect(wordsOf("हिन्दी ตั้ง ﾊﾞ")).toEqual(["हिन्दी", "ตั้ง", "バ"]);
  });
});
