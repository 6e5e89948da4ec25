import fc from "fast-check";
import { expect, test } from "vitest";
import { type Block, inlines, markdownBlocks } from "./markdown.ts";

test("headings, paragraphs, lists, quotes, code and rules are told apart", () => {
  const text = [
    "# Release 2",
    "It is **done**, see [the notes](https://x.example/n).",
    "",
    "- one `code`",
    "- two",
    "1. first",
    "> said *so*",
    "---",
    "```sh",
    "# no heading",
    "```",
  ].join("\n");
  expect(markdownBlocks(text).map(({ of }) => of)).toEqual([
    "heading",
    "paragraph",
    "list",
    "quote",
    "rule",
    "code",
  ]);
  expect(inlines("It is **done**, see [the notes](https://x.example/n).")).toEqual([
    { of: "text", text: "It is " },
    { of: "strong", text: "done" },
    { of: "text", text: ", see " },
    { of: "link", text: "the notes", address: "https://x.example/n" },
    { of: "text", text: "." },
  ]);
});

test("HTML is text, and code without an end goes on to the end", () => {
  expect(markdownBlocks("<img src=x onerror=alert(1)>")).toEqual([
    { of: "paragraph", lines: [[{ of: "text", text: "<img src=x onerror=alert(1)>" }]] },
  ]);
  expect(markdownBlocks("~~~\n# a\n")).toEqual([{ of: "code", text: "# a\n" }]);
});

test.each([
  ["a heading of blanks", `# ${" ".repeat(200_000)}x`],
  ["brackets that never close", "[".repeat(200_000)],
  ["stars that never close", "*a".repeat(100_000)],
  ["dashes that end in a letter", `${"- ".repeat(100_000)}x`],
])("%s is read to its end", (_, text) => {
  expect(markdownBlocks(text)).toHaveLength(1);
});

function wordsIn(block: Block): string {
  if (block.of === "rule") return "";
  if (block.of === "code") return block.text;
  const lines = block.of === "heading" ? [block.line] : block.of === "list" ? block.items : block.lines;
  return lines
    .flat()
    .map((piece) => ("address" in piece ? piece.text + piece.address : piece.text))
    .join(" ");
}

test("no word of a text is left out, whatever it looks like", () => {
  const mark = fc.constantFrom(
    "#",
    "*",
    "_",
    "`",
    "```",
    "-",
    ">",
    "[",
    "](",
    ")",
    "!",
    "1.",
    "~~~",
    "\n",
    " ",
    "<b>",
  );
  const word = fc.stringMatching(/^[a-z]{1,6}$/);
  fc.assert(
    fc.property(fc.array(fc.oneof(mark, word), { maxLength: 60 }), (parts) => {
      const shown = markdownBlocks(parts.join(" ")).map(wordsIn).join(" ");
      // What follows a fence on its line names a language.
      const lines = parts
        .join(" ")
        .split("\n")
        .filter((line) => !/^ {0,3}(?:`{3,}|~{3,})/.test(line));
      for (const each of lines.join(" ").match(/[a-z]+/g) ?? []) expect(shown).toContain(each);
    }),
    { numRuns: 300 },
  );
});
