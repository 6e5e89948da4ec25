import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { copyJson, throughJson } from "./copy-json.ts";

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

test("minus zero is copied as it is read again: as zero", () => {
  expect(copyJson({ a: -0, list: [-0, { b: -0 }] })).toEqual({ a: 0, list: [0, { b: 0 }] });
  expect(copyJson(-0)).toBe(0);
});

test.each([1n, () => 1, Symbol("x")])("what JSON cannot say is refused: %s", (value) => {
  expect(() => copyJson({ value } as unknown as JsonValue)).toThrow(TypeError);
});

/** What a model or a tool may give beside JSON. */
const odd = fc.constantFrom<unknown>(
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -0,
  new Date(0),
  new Map([["a", 1]]),
  Object.create({ inherited: 1 }),
  Object.create(null),
  { toJSON: () => "told" },
  () => 1,
  Symbol("x"),
  Array(2),
);
const anything = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), odd, tie("list"), tie("object")),
  list: fc.array(tie("value"), { maxLength: 3 }),
  object: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("value"), { maxKeys: 3 }),
})).object;

test("what is read again is what JSON gives back, whatever it was", () => {
  fc.assert(
    fc.property(anything, (value) => {
      const read = JSON.parse(JSON.stringify(value)) as JsonObject;
      const copy = throughJson(value as JsonObject);
      expect(copy).toStrictEqual(read);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(read));
    }),
  );
});

test("what is read again shares nothing", () => {
  const value = { list: [{ text: "as said" }] };
  const copy = throughJson(value);
  for (const part of value.list) part.text = "changed";
  expect(copy).toEqual({ list: [{ text: "as said" }] });
});
