import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isJsonObject, member, parseJson, toJsonValue } from "./json.ts";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

test("whatever JSON.parse yields from a shallow text is exactly JSON", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => toJsonValue(value).ok));
});

test("an accepted value comes back the same from storage", () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }),
      (value) => {
        const check = toJsonValue(value);
        if (check.ok)
          expect(JSON.parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(check.value)));
      },
    ),
  );
});

const cycle: { list: unknown[] } = { list: [] };
cycle.list.push({ back: cycle });
const sparse: number[] = [1];
sparse[2] = 3;

test.each([
  ["undefined", undefined, ""],
  ["an undefined member", { a: undefined }, "a"],
  ["a function", { a: [() => 1] }, "a[0]"],
  ["a symbol", Symbol("s"), ""],
  ["a bigint", { n: 1n }, "n"],
  ["NaN", [Number.NaN], "[0]"],
  ["infinity", [[Number.POSITIVE_INFINITY]], "[0][0]"],
  ["a date", { at: new Date(0) }, "at"],
  ["a map", new Map(), ""],
  ["an instance", { e: new Error("x") }, "e"],
  ["an object that inherits from data", Object.create({ confirmed: true }), ""],
  ["an array with a hole", sparse, ""],
  ["an array with a member", Object.assign([1], { extra: 1 }), ""],
  ["a cycle", cycle, "list[0].back"],
  ["a lone surrogate", { s: "a\ud800b" }, "s"],
  ["a lone surrogate in a name", { "\udc00": 1 }, "\udc00"],
])("%s is not JSON, and the path leads to it", (_, value, path) => {
  expect(toJsonValue(value)).toMatchObject({ ok: false, path });
});

test("a shared object is no cycle", () => {
  const shared = { a: 1 };
  expect(toJsonValue({ one: shared, two: [shared] }).ok).toBe(true);
});

test("objects without a prototype and objects of another realm are plain", () => {
  expect(toJsonValue(Object.assign(Object.create(null), { a: 1 })).ok).toBe(true);
  expect(toJsonValue(runInNewContext("({ a: [1, { b: 2 }] })")).ok).toBe(true);
});

test("a member called __proto__ is data and survives", () => {
  const read = parseJson('{"__proto__": {"confirmed": true}}');
  expect(read.ok && isJsonObject(read.value) && member(read.value, "__proto__")).toEqual({ confirmed: true });
  expect(read.ok && isJsonObject(read.value) && member(read.value, "confirmed")).toBeUndefined();
});

test("member does not see what objects inherit", () => {
  expect(member({}, "toString")).toBeUndefined();
  expect(member({}, "__proto__")).toBeUndefined();
});

test("nesting is allowed up to the limit and refused one deeper", () => {
  expect(parseJson(nested(128)).ok).toBe(true);
  expect(parseJson(nested(129))).toMatchObject({ ok: false });
  expect(parseJson(nested(3), { maxDepth: 2 })).toMatchObject({ ok: false });
  expect(parseJson("7", { maxDepth: 0 }).ok).toBe(true);
});

test("a value nested 100 000 deep is refused, not a stack overflow, even when the caller asks for more", () => {
  expect(parseJson(nested(100_000), { maxDepth: 1_000_000 })).toMatchObject({ ok: false });
});

test("the size limit counts bytes of UTF-8", () => {
  expect(parseJson('"é€😀"', { maxBytes: 11 }).ok).toBe(true);
  expect(parseJson('"é€😀"', { maxBytes: 10 })).toEqual({
    ok: false,
    message: "The text is longer than 10 bytes.",
  });
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const json = JSON.stringify(text);
      const bytes = Buffer.byteLength(json);
      expect(parseJson(json, { maxBytes: bytes }).ok).toBe(true);
      expect(parseJson(json, { maxBytes: bytes - 1 }).ok).toBe(false);
    }),
  );
});

test("parseJson never throws, and refuses what is not JSON", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => typeof parseJson(text).ok === "boolean"));
  expect(parseJson("yes").ok).toBe(false);
  expect(parseJson("").ok).toBe(false);
  expect(parseJson("1e999").ok).toBe(false);
  expect(parseJson(String.raw`"\ud800"`).ok).toBe(false);
});
