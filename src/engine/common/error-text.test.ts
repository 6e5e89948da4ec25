import { expect, test } from "vitest";
import { errorText } from "./error-text.ts";

const throwing = (): never => {
  throw new Error("no");
};

test.each<[string, unknown, string]>([
  ["an error", new Error("out of paper"), "out of paper"],
  ["text", "out of paper", "out of paper"],
  ["nothing", undefined, "undefined"],
  ["half an emoji", new Error("\ud83d"), "\ufffd"],
  ["a whole document", new Error("x".repeat(5_000_000)), `${"x".repeat(100_000)}…`],
  ["an error whose message is no text", Object.assign(new Error("x"), { message: 5n }), "5"],
  ["what has no text", Object.create(null), "unreadable error"],
  ["what throws when it is read", { toString: throwing }, "unreadable error"],
  [
    "a proxy that throws at every look",
    new Proxy({}, { getPrototypeOf: throwing, get: throwing, has: throwing }),
    "unreadable error",
  ],
])("%s says something that can be kept", (_, thrown, text) => {
  expect(errorText(thrown)).toBe(text);
});
