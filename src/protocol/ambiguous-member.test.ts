import fc from "fast-check";
import { expect, test } from "vitest";
import { findAmbiguity } from "./ambiguous-member.ts";

test.each([
  ['{"a":1,"a":2}', "a"],
  ['{"a":1,"a":1}', "a"],
  ['{ "a" : {"a":1} ,\n\t"a" : 2 }', "a"],
  [String.raw`{"confirmed":false,"\u0063onfirmed":true}`, "confirmed"],
  [String.raw`{"\"":1,"\u0022":2}`, '"'],
  [String.raw`{"a\\":1,"a\\":2}`, "a\\"],
  ['{"decisions":[{"id":"x"},{"confirmed":false,"confirmed":true}]}', "decisions[1].confirmed"],
  ['[[1,[2,3]],{"a":[{"b":{"c":1,"d":",","c":2}}]}]', "[1].a[0].b.c"],
  ['{"":1,"":2}', ""],
  ['{"__proto__":1,"__proto__":2}', "__proto__"],
])("in %s the member %s is named twice", (text, path) => {
  expect(JSON.parse(text)).toBeDefined();
  expect(findAmbiguity(text)).toEqual({ path, complaint: "is given twice; give it once" });
});

test.each([
  ['{"id":9007199254740993}', "id"],
  ['{"a":[0,-9007199254740993]}', "a[1]"],
  // Kept exactly, but written 1152921504606847000.
  ["1152921504606846976", ""],
  ['{"a":100000000000000000000000}', "a"],
])("in %s the number at %s would be rounded", (text, path) => {
  expect(findAmbiguity(text)).toMatchObject({
    path,
    complaint: expect.stringContaining("would be rounded") as string,
  });
});

test.each([
  '{"a":1,"A":2}',
  '{"a":9007199254740991,"b":-9007199254740991,"c":9007199254740992}',
  "[1152921504606847000,1e23,-0,0.1000000000000000055,1E400]",
  '{"a":"9007199254740993","9007199254740993":"\\"9007199254740993"}',
  '{"a":{"a":{"a":1}}}',
  '[{"a":1},{"a":2}]',
  '{"a":"a","b":["a","a"],"c":"a"}',
  String.raw`{"a":"\",\"a\":1","b":"\\","c":"{\"a\":1,\"a\":2}"}`,
  String.raw`{"a\\":1,"a":2}`,
  '"a"',
  "[]",
  " 7 ",
])("in %s none is", (text) => {
  expect(findAmbiguity(text)).toBeUndefined();
});

// What makes a scan lose its place: quotes, backslashes, brackets, commas and colons inside of strings.
const name = fc.string({
  unit: fc.constantFrom(...'a b " \\ { } [ ] , : u \0 é'.split(" "), " "),
  maxLength: 4,
});
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    name,
    fc.integer(),
    fc.constantFrom(null, true),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  ),
}));
const spaces = fc.constantFrom(undefined, 1, "\t");

test("what JSON.stringify writes names no member twice", () => {
  fc.assert(
    fc.property(value, spaces, (json, space) => {
      expect(findAmbiguity(JSON.stringify(json, undefined, space))).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});

/** A JSON text whose objects are lists of members, and whether one of them names a member twice. */
interface Written {
  readonly text: string;
  readonly twice: boolean;
}

const spelled = fc
  .tuple(name, fc.boolean())
  .map(([said, escaped]) => ({ said, text: escaped ? inEscapes(said) : JSON.stringify(said) }));
const { written } = fc.letrec<{ written: Written }>((tie) => ({
  written: fc.oneof(
    { maxDepth: 4 },
    name.map((text) => ({ text: JSON.stringify(text), twice: false })),
    fc.array(tie("written"), { maxLength: 3 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(" ,")}]`,
      twice: items.some(({ twice }) => twice),
    })),
    fc.array(fc.tuple(spelled, tie("written")), { maxLength: 4 }).map((members) => ({
      text: `{${members.map(([key, { text }]) => `${key.text} : ${text}`).join(",\n")}}`,
      twice:
        new Set(members.map(([{ said }]) => said)).size < members.length ||
        members.some(([, { twice }]) => twice),
    })),
  ),
}));

function inEscapes(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("")}"`;
}

test("however it is spelled and nested, a member named twice is found, and nothing else is", () => {
  fc.assert(
    fc.property(written, ({ text, twice }) => {
      expect(JSON.parse(text)).toBeDefined();
      expect(findAmbiguity(text) !== undefined).toBe(twice);
    }),
    { numRuns: 2_000 },
  );
});
