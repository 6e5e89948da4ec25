import { expect, test } from "vitest";
import { checkSessionName, checkStateKey, flawOfName } from "./names.ts";

const name = { app: "bank", user: "ana", id: "s1" };

test("a name may have 768 bytes of UTF-8, whatever it is made of", () => {
  for (const [text, bytes] of [
    ["x", 1],
    ["é", 2],
    ["€", 3],
    ["😀", 4],
  ] as const) {
    expect(flawOfName(text.repeat(768 / bytes))).toBeUndefined();
    expect(flawOfName(`${text.repeat(768 / bytes)}x`)).toBe("is longer than 768 bytes");
  }
  expect(flawOfName("")).toBeUndefined();
});

test.each([
  ["a\0", "contains a NUL character"],
  ["a\ud800", "contains an incomplete character (a lone surrogate)"],
])("%j cannot be one", (text, flaw) => {
  expect(flawOfName(text)).toBe(flaw);
});

test.each([
  ["app", "appName"],
  ["user", "userId"],
  ["id", "sessionId"],
])("of a session's names the %s is told as %s, and not at length", (part, field) => {
  expect(() => checkSessionName(name)).not.toThrow();
  expect(() => checkSessionName({ ...name, [part]: "x".repeat(10_000) })).toThrow(
    expect.objectContaining({
      code: "malformed-request",
      message: `The ${field} "${"x".repeat(40)}…" is longer than 768 bytes.`,
      details: { field },
    }),
  );
});

test("a state's key is measured as it is stored, and may hold a NUL", () => {
  expect(() => checkStateKey("a\0b")).not.toThrow();
  expect(() => checkStateKey("x".repeat(766))).not.toThrow();
  expect(() => checkStateKey("x".repeat(767))).toThrow("is longer than 768 bytes");
  expect(() => checkStateKey("\n".repeat(400))).toThrow("is longer than 768 bytes");
});
