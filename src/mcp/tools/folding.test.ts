import { expect, test } from "vitest";
import type { JsonValue } from "../../protocol/index.ts";
import { duplicateMember, sameName } from "./folding.ts";

test.each([
  "delete_file",
  "Delete_File",
  "delete_file ",
  "\u200bdelete_file",
  "ｄelete_file",
  "delete_\nfile",
])("%j could be taken for delete_file", (name) => {
  expect(sameName(["write", "delete_file"], name)).toBe(true);
});

test.each(["delete_files", "delete-file", "", "file"])("%j could not", (name) => {
  expect(sameName(["write", "delete_file"], name)).toBe(false);
});

test.each<[string, string | undefined]>([
  ['{"path":1,"Path":2}', "Path"],
  ['{"a":[{"x":{"s":1,"\u017f":2}}]}', "a[0].x.\u017f"],
  ['{"k":1,"\u212a":2}', "\u212a"],
  ['{"a":{"A":1},"b":[{"c":1},{"C":1}]}', undefined],
  ["[1,[2]]", undefined],
])("of the members in %s, %s has a twin", (text, path) => {
  expect(duplicateMember(JSON.parse(text) as JsonValue)).toBe(path);
});

test("long names above many members do not hold it up", () => {
  const leaves = Array.from({ length: 20_000 }, (_, index): [string, JsonValue] => [`m${index}`, index]);
  let value: JsonValue = Object.fromEntries(leaves);
  for (let depth = 0; depth < 100; depth++) value = { ["k".repeat(10_000) + depth]: value };
  const began = performance.now();
  expect(duplicateMember(value)).toBeUndefined();
  expect(performance.now() - began).toBeLessThan(5_000);
});
