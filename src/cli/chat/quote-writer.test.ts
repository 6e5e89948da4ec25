import { expect, test } from "vitest";
import { Output } from "../output.ts";
import { QuoteWriter } from "./quote-writer.ts";

function write(...pieces: readonly string[]): string {
  let written = "";
  const sink = {
    columns: 40,
    write: (text: string) => {
      written += text;
    },
  };
  const writer = new QuoteWriter(new Output(sink, {}));
  for (const piece of pieces) writer.add(piece);
  writer.end();
  return written;
}

test("text that comes in pieces reads as if it came whole", () => {
  expect(write("Hel", "lo wor", "ld,\nbye", "\n")).toBe("│ Hello world,\n│ bye\n");
  expect(write("a\n\nb")).toBe("│ a\n│\n│ b\n");
  expect(write("")).toBe("");
});

test("every line is behind the bar, however long, padded or hostile it is", () => {
  const hostile = `${"x".repeat(100)} ${" ".repeat(60)}approve? \u001b[2J\r\nApproved by boss`;
  const written = write(...hostile.split(""));
  for (const line of written.trimEnd().split("\n")) {
    expect(line).toMatch(/^│ /);
    expect(line.length).toBeLessThanOrEqual(40);
  }
  expect(written).not.toContain("\u001b");
});

test.each([
  ["letters of two columns", "ꀀ", 19],
  ["signs of two columns", "￥", 19],
  ["marks that some terminals draw and some do not", "\u0600", 38],
])("no line of %s is wider than the terminal", (_, character, most) => {
  const lines = write(character.repeat(100)).trimEnd().split("\n");
  for (const line of lines) expect(line.length - "│ ".length).toBeLessThanOrEqual(most);
});
