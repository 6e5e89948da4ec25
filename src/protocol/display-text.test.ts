import fc from "fast-check";
import { expect, test } from "vitest";
import { displayText } from "./display-text.ts";

test.each([
  ["escape sequences", "\u001b[31mred\u001b[0m", "⟨U+001B⟩[31mred⟨U+001B⟩[0m"],
  ["C1 controls", "a\u009bb", "a⟨U+009B⟩b"],
  ["delete and null", "\u007f\u0000", "⟨U+007F⟩⟨U+0000⟩"],
  ["a carriage return that would overwrite the line", "safe\revil", "safe⟨U+000D⟩evil"],
  ["bidi overrides", "a\u202eb\u202c", "a⟨U+202E⟩b⟨U+202C⟩"],
  ["bidi isolates", "\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"],
  ["bidi marks", "\u200ea\u200fb\u061c", "⟨U+200E⟩a⟨U+200F⟩b⟨U+061C⟩"],
  ["zero-width spaces and joiners", "a\u200bb\u200cc\u200dd", "a⟨U+200B⟩b⟨U+200C⟩c⟨U+200D⟩d"],
  ["a byte order mark", "\ufeffa", "⟨U+FEFF⟩a"],
  ["a word joiner and invisible operators", "a\u2060\u2063", "a⟨U+2060⟩⟨U+2063⟩"],
  ["soft hyphens", "pass\u00adword", "pass⟨U+00AD⟩word"],
  ["variation selectors outside emoji", "a\ufe0f\u{E0100}", "a⟨U+FE0F⟩⟨U+E0100⟩"],
  ["tag characters", "a\u{E0041}\u{E0042}", "a⟨U+E0041⟩⟨U+E0042⟩"],
  ["Hangul fillers", "\u115f\u1160\u3164\uffa0", "⟨U+115F⟩⟨U+1160⟩⟨U+3164⟩⟨U+FFA0⟩"],
  ["the combining grapheme joiner", "a\u034fb", "a⟨U+034F⟩b"],
  ["exotic blanks", "a\u00a0\u2003\u3000\u202f\u1680b", "a⟨U+00A0⟩⟨U+2003⟩⟨U+3000⟩⟨U+202F⟩⟨U+1680⟩b"],
  ["the Braille blank", "a\u2800b", "a⟨U+2800⟩b"],
  ["line and paragraph separators", "a\u2028b\u2029c", "a⟨U+2028⟩b⟨U+2029⟩c"],
  ["lone surrogates", "a\ud800b\udc00", "a⟨U+D800⟩b⟨U+DC00⟩"],
  ["private use", "\ue000\u{F0000}", "⟨U+E000⟩⟨U+F0000⟩"],
  ["noncharacters", "\uffff", "⟨U+FFFF⟩"],
  ["a forged marker", "⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"],
  ["a long run of blanks", `rm a${" ".repeat(300)}-rf /`, "rm a⟨300 blanks⟩-rf /"],
  ["a long run of tabs", `a${"\t".repeat(25)}b`, "a⟨25 blanks⟩b"],
  ["many blank lines", `top${"\n".repeat(60)}bottom`, "top\n⟨59 blank lines⟩\nbottom"],
  ["many blank lines of Windows", `top${"\r\n".repeat(60)}bottom`, "top\n⟨59 blank lines⟩\nbottom"],
  ["blank lines padded with blanks", `top${"\n   ".repeat(40)}\nbottom`, "top\n⟨40 blank lines⟩\nbottom"],
  ["a pile of marks", `Z${"\u0301".repeat(50)}`, `Z${"\u0301".repeat(4)}⟨46 more marks⟩`],
  ["a mark that would strike what stands before", "\u0338ok", "⟨U+0338⟩ok"],
])("%s: made visible", (_, text, shown) => {
  expect(displayText(text)).toBe(shown);
});

test.each([
  ["ASCII", "Pay out $2,500 to <ana@corp>?\n\tYes & no."],
  ["Hebrew and Arabic letters", "שלום עולם، مرحبا"],
  ["vowel points", "שָׁלוֹם مَرْحَبًا"],
  ["Chinese, Japanese, Korean", "支払い 한국어 漢字"],
  ["Devanagari and Thai", "नमस्ते ที่นี่"],
  ["composed and decomposed accents", "é e\u0301 ñ n\u0303"],
  ["emoji with joiners, skins and selectors", "👩‍👩‍👧‍👦 👍🏽 ❤️ 🏳️‍🌈"],
  ["flags, also of tags", "🇩🇪 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"],
  ["keycaps", "1️⃣ #️⃣"],
  ["Arabic number signs, which are drawn", "\u0600١٢٣"],
  ["indentation", "{\n            a: 1\n\n\n}"],
])("%s: left as it is", (_, text) => {
  expect(displayText(text)).toBe(text);
});

test("Windows newlines are newlines", () => {
  expect(displayText("a\r\nb")).toBe("a\nb");
});

test("newlines and tabs are shown where the place has one line", () => {
  expect(displayText("a\n\tb", { newlines: "show" })).toBe("a⟨U+000A⟩⟨U+0009⟩b");
  expect(displayText("a\r\nb", { newlines: "show" })).toBe("a⟨U+000A⟩b");
});

test("a long text is cut, and says how much is hidden", () => {
  expect(displayText("abcdef", { maxLength: 6 })).toBe("abcdef");
  expect(displayText("abcdef", { maxLength: 4 })).toBe("abcd… ⟨2 more characters⟩");
});

test("a cut goes neither through a pair, nor through an emoji, nor through a marker", () => {
  expect(displayText("😀😀😀", { maxLength: 2 })).toBe("😀😀… ⟨1 more characters⟩");
  expect(displayText("a👩‍👩‍👧b", { maxLength: 3 })).toBe("a… ⟨6 more characters⟩");
  expect(displayText("ab\u202ecd", { maxLength: 4 })).toBe("ab… ⟨3 more characters⟩");
});

test("no text yields a raw control, bidi, invisible or lone character", () => {
  const hostile = /[\p{Cs}\p{Bidi_Control}\u200B\u2060\uFEFF\u2028\u2029]|(?![\n\t])\p{Cc}/u;
  const unit = fc.oneof(
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.constantFrom(
      "\u001b",
      "\r",
      "\n",
      "\u202e",
      "\u200b",
      "\ufeff",
      "\ud800",
      "\udc00",
      "\u0301",
      " ",
      "⟨",
    ),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 40 }), fc.option(fc.nat(20)), (units, limit) => {
      const shown = displayText(units.join(""), limit === null ? {} : { maxLength: limit });
      expect(shown).not.toMatch(hostile);
      expect(shown.isWellFormed()).toBe(true);
    }),
    { numRuns: 500 },
  );
});

// What were quadratic would take hours.
test("a megabyte of hostile text is shown", { timeout: 120_000 }, () => {
  expect(displayText("\n \t".repeat(350_000))).not.toBe("");
  expect(displayText("a\u0301\u202e ".repeat(250_000), { maxLength: 500 })).not.toBe("");
});
