import stringWidth from "string-width";
import { expect, test } from "vitest";
import { cutTo, padTo, textWidth, wrapTo } from "./text-width.ts";

test("a text is as wide as a terminal draws it", () => {
  expect(textWidth("plain")).toBe(5);
  expect(textWidth("é")).toBe(1);
  expect(textWidth("漢字")).toBe(4);
  expect(textWidth("👩‍👩‍👧")).toBe(2);
  expect(textWidth("ㄅ￥")).toBe(4);
  expect(textWidth("ｱ")).toBe(1);
});

test("what is measured without a table is as wide as the table says", () => {
  const ascii = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
  for (const character of [...ascii, "·", "–", "…", "←", "→", "│"]) {
    expect(stringWidth(character), character).toBe(1);
    expect(textWidth(`${character}漢${character}`)).toBe(4);
    expect(textWidth(`a${character}`)).toBe(2);
  }
});

test("cutting never goes over the width and leaves whole characters", () => {
  expect(cutTo("abcdef", 6)).toBe("abcdef");
  expect(cutTo("abcdefg", 6)).toBe("abcde…");
  expect(cutTo("漢字漢字", 4)).toBe("漢…");
  expect(textWidth(padTo("漢", 5))).toBe(5);
});

test("wrapping breaks at blanks, and inside a word only where it must", () => {
  expect(wrapTo("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrapTo("abcdefghij k", 4)).toEqual(["abcd", "efgh", "ij k"]);
  expect(wrapTo("a\n\n  b", 10)).toEqual(["a", "", "  b"]);
});

test("number signs that stand before a letter are wrapped too, however many there are", () => {
  for (const line of wrapTo(`${"\u0600".repeat(100)}Approved`, 20))
    expect(line.length).toBeLessThanOrEqual(20);
});
