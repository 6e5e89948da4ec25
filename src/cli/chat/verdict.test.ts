import { expect, test } from "vitest";
import { readVerdict } from "./verdict.ts";

test.each(["y", "Y", "yes", "a", "approve", "  approve  "])("%j approves", (line) => {
  expect(readVerdict(line)).toEqual({ kind: "approve" });
});

test.each(["n", "no", "d", "deny"])("%j denies", (line) => {
  expect(readVerdict(line)).toEqual({ kind: "deny" });
});

test("words after a denial are its reason, JSON after an approval its payload", () => {
  expect(readVerdict("deny  over budget ")).toEqual({ kind: "deny", reason: "over budget" });
  expect(readVerdict('approve {"days":3}')).toEqual({ kind: "approve", payload: { days: 3 } });
});

test.each([
  "",
  " ",
  "ok",
  "yes please",
  "yep",
  "approve it",
  "approved",
  "true",
  "1",
  "__proto__",
  "later on",
  "toString",
])("%j is no answer", (line) => {
  expect(readVerdict(line)).toBeUndefined();
});
