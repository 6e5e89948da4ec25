import { expect, test } from "vitest";
import { wellFormed } from "./well-formed.ts";

test("what is whole is returned as it is", () => {
  const value = { text: "héllo 🎉", list: [1, null, { a: "b" }] };
  expect(wellFormed(value)).toBe(value);
});

test("half a character is replaced, in values and in names, however deep", () => {
  expect(wellFormed({ "a\ud800": ["x\udc00y", { b: "\ud83d" }], c: 1 })).toEqual({
    "a\ufffd": ["x\ufffdy", { b: "\ufffd" }],
    c: 1,
  });
});
