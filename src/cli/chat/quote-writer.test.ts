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
