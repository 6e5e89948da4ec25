import fc from "fast-check";
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

test("finds what a search at every place finds, and hides it where the text is cut", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 30 });
  fc.assert(
    fc.property(letters, fc.array(letters, { maxLength: 3 }), fc.nat(30), (text, secrets, most) => {
      const end = Math.min(text.length, most);
      const hidden = new Set<number>();
      for (const secret of secrets.filter(({ length }) => length >= 3))
        for (let at = 0; at < text.length; at += 1)
          if (text.startsWith(secret, at)) for (let i = 0; i < secret.length; i += 1) hidden.add(at + i);
      const marked = Array.from({ length: end }, (_, at) => (hidden.has(at) ? "*" : text.charAt(at))).join(
        "",
      );
      expect(hideSecrets(text, secrets, most).replaceAll("[redacted]", "*")).toBe(
        marked.replaceAll(/\*+/g, "*"),
      );
    }),
    { numRuns: 1_000 },
  );
});

test("a text and a secret of one letter each take no longer than others", () => {
  expect(hideSecrets("a".repeat(400_000), ["a".repeat(200_000), `${"a".repeat(199_999)}b`])).toBe(
    "[redacted]",
  );
});
