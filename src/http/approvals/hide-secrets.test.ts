import { expect, test } from "vitest";
import { hideSecrets } from "./hide-secrets.ts";

test.each([
  ["my word is hunter2, hunter2!", ["hunter2"], "my word is [redacted], [redacted]!"],
  ["a letter of it: h", ["hu"], "a letter of it: h"],
  ["xabcdefx", ["abc", "bcdef"], "x[redacted]x"],
  ["aaaaa b", ["aaa"], "[redacted] b"],
  ["secret", ["secret"], "[redacted]"],
  ["nothing", [], "nothing"],
  ["(a.c) abc", ["a.c"], "([redacted]) abc"],
])("hides in %j what is in %j", (text, secrets, shown) => {
  expect(hideSecrets(text, secrets)).toBe(shown);
});

test("what stands for a secret is not searched for others", () => {
  const word = "[redacted]";
  const parts = Array.from({ length: word.length }, (_, start) =>
    Array.from({ length: word.length - start - 2 }, (__, more) => word.slice(start, start + 3 + more)),
  ).flat();
  expect(hideSecrets("react!", ["react", ...parts])).toBe("[redacted]!");
});
