import { expect, test } from "vitest";
import type { JsonValue } from "../../protocol/index.ts";
import { copyJson } from "./copy-json.ts";

test("a copy is equal and shares nothing", () => {
  const value = JSON.parse('{"a":[1,{"b":null}],"__proto__":{"x":true},"c":"é"}') as { a: [number, object] };
  const copy = copyJson(value as unknown as JsonValue) as unknown as typeof value;
  expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
  expect([copy === value, copy.a === value.a, copy.a[1] === value.a[1]]).toEqual([false, false, false]);
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

test("what is copied is what JSON would say", () => {
  const value = { gone: undefined, date: new Date(0), list: [undefined, 1] } as unknown as JsonValue;
  expect(copyJson(value)).toEqual(JSON.parse(JSON.stringify(value)));
});

test.each([1n, () => 1, Symbol("x")])("what JSON cannot say is refused: %s", (value) => {
  expect(() => copyJson({ value } as unknown as JsonValue)).toThrow(TypeError);
});
