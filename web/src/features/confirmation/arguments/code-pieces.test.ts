import { expect, test } from "vitest";
import { codePieces } from "./code-pieces.ts";

test("words, texts, numbers and comments are told apart", () => {
  expect(codePieces("DELETE FROM t WHERE id = 5 -- all", "sql").filter(({ of }) => of !== "rest")).toEqual([
    { text: "DELETE", of: "word" },
    { text: "FROM", of: "word" },
    { text: "WHERE", of: "word" },
    { text: "5", of: "number" },
    { text: "-- all", of: "comment" },
  ]);
  expect(codePieces("echo 'rm -rf' # ok", "shell").filter(({ of }) => of !== "rest")).toEqual([
    { text: "'rm -rf'", of: "text" },
    { text: "# ok", of: "comment" },
  ]);
});

test.each(["", "a", "select 'x", '—— ü "q" 1.5', "rm -rf / # no"])("nothing of %j is lost", (line) => {
  for (const kind of ["sql", "shell", "code", "plain"] as const)
    expect(
      codePieces(line, kind)
        .map(({ text }) => text)
        .join(""),
    ).toBe(line);
});
