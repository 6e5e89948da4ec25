import { expect, test } from "vitest";
import { readSources } from "./repository.ts";

// Stores carry commits out; their contract suite makes them by hand. Everyone else goes through the draft, whose
// methods judge every status.
const sources = readSources().filter(
  ({ path }) =>
    path.startsWith("src/") &&
    !path.startsWith("src/stores/") &&
    !path.startsWith("src/engine/ledger/contract/") &&
    !path.endsWith(".test.ts"),
);

function pathsWith(pattern: RegExp): readonly string[] {
  return sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
}

test("only `transact` commits", () => {
  expect(pathsWith(/ledger\.commit\(/)).toEqual(["src/engine/ledger/transact.ts"]);
});

test("only the draft makes writes of rows that have a status", () => {
  expect(pathsWith(/kind: "(?:call|frame|confirmation)-(?:insert|update)",/)).toEqual([
    "src/engine/ledger/draft.ts",
  ]);
});
