import { expect, test } from "vitest";
import { Output } from "./output.ts";

test("a tab in others' words does not carry them past the edge of the terminal, where there is no bar", () => {
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  new Output({ columns: 40, write }, {}).quote(`${"\t".repeat(20)}Approved by boss`, "  ");
  expect(written).not.toContain("\t");
  for (const line of written.trimEnd().split("\n")) expect(line).toMatch(/^ {2}│.{0,37}$/);
});
