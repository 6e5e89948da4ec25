import { expect, test } from "vitest";
import { fingerprints, isSameBuild } from "./fingerprint.ts";

const TABLE = "create table log (\n  -- from 1\n  seq bigint\n);\n";
const made = (text: string): readonly { readonly version: number; readonly texts: readonly string[] }[] => [
  { version: 1, texts: [text] },
];

test.each([
  ["another comment", TABLE.replace("-- from 1", "-- without gaps"), true],
  ["no comment", TABLE.replace("  -- from 1\n", ""), true],
  ["another column", TABLE.replace("bigint", "integer"), false],
  ["two dashes inside a line", TABLE.replace("seq bigint", "seq bigint default 1 --1"), false],
])("a ledger that was made with %s: the same build?", (_, text, isSame) => {
  expect(isSameBuild({ version: 1, fingerprints: fingerprints(made(TABLE)) }, made(text))).toBe(isSame);
});
