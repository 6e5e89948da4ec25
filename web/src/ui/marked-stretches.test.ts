import { expect, test } from "vitest";
import { markedStretches } from "./marked-stretches.ts";

const found = (text: string): readonly string[] =>
  Array.from(markedStretches(text), ({ text: marked }) => marked);

test("our notes and words that mix scripts are found, and nothing else", () => {
  expect(found("pay p\u0430ypal.com ⟨U+202E⟩ now; Привет, 東京 ⟨3 blanks⟩")).toEqual([
    "p\u0430ypal",
    "⟨U+202E⟩",
    "⟨3 blanks⟩",
  ]);
  expect(found("nothing to see")).toEqual([]);
});

test.each([
  ["letters without a blank", "漢".repeat(400_000)],
  ["letters of a script that is looked for", "я".repeat(400_000)],
  ["one such letter behind many others", `${"漢".repeat(200_000)}я${"漢".repeat(200_000)}`],
  ["brackets that nothing closes", "⟨".repeat(400_000)],
])("takes time in proportion to the text: %s", (_what, text) => {
  const began = performance.now();
  expect(found(text).length).toBeLessThanOrEqual(1);
  // The square of this length would take hours.
  expect(performance.now() - began).toBeLessThan(5_000);
});
