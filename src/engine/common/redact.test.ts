import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../protocol/index.ts";
import { REDACTED, redact, unredact } from "./redact.ts";

const ARGS: JsonObject = {
  to: "ana",
  card: { number: "4111", holder: "Ana", cvc: null },
  keys: [{ id: 1, secret: "x" }, { id: 2, secret: "y" }, "loose"],
  "a/b": "slash",
  "m~n": "tilde",
};

test.each<[string, readonly string[], JsonObject]>([
  ["a member", ["/to"], { ...ARGS, to: REDACTED }],
  [
    "a nested member, also one that is null",
    ["/card/number", "/card/cvc"],
    { ...ARGS, card: { number: REDACTED, holder: "Ana", cvc: REDACTED } },
  ],
  ["a whole branch", ["/card"], { ...ARGS, card: REDACTED }],
  [
    "one item",
    ["/keys/1/secret"],
    { ...ARGS, keys: [{ id: 1, secret: "x" }, { id: 2, secret: REDACTED }, "loose"] },
  ],
  [
    "that member of every item",
    ["/keys/*/secret"],
    { ...ARGS, keys: [{ id: 1, secret: REDACTED }, { id: 2, secret: REDACTED }, "loose"] },
  ],
  ["names with a slash or a tilde", ["/a~1b", "/m~0n"], { ...ARGS, "a/b": REDACTED, "m~n": REDACTED }],
  ["everything, by the empty pointer", [""], REDACTED as unknown as JsonObject],
  ["nothing, by a pointer that leads nowhere", ["/nope", "/to/x", "/keys/9/secret"], ARGS],
  ["nothing, without pointers", [], ARGS],
])("replaces %s", (_, secrets, expected) => {
  expect(redact(ARGS, secrets)).toEqual(expected);
});

test("a secret called __proto__ is a member like any other", () => {
  const args = JSON.parse('{"__proto__": {"token": "t"}, "to": "ana"}') as JsonObject;
  const shown = redact(args, ["/__proto__/token"]);
  expect(JSON.stringify(shown)).toBe(`{"__proto__":{"token":"${REDACTED}"},"to":"ana"}`);
  expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
});

test("leaves the arguments themselves alone", () => {
  const before = structuredClone(ARGS);
  redact(ARGS, ["/card", "/keys/*/secret"]);
  expect(ARGS).toEqual(before);
});

test("the text of a redacted secret is nowhere in what is shown", () => {
  const secret = "s3cr3t-0123456789";
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (other, name) => {
      const pointer = `/holder/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const args = { other, holder: Object.fromEntries([[name, secret]]) } as JsonObject;
      expect(JSON.stringify(redact(args, [pointer]))).not.toContain(secret);
    }),
  );
});

test("what comes back redacted is what it was; what was changed stays changed", () => {
  const original = { card: { number: "4111", name: "Ana" }, pins: ["1", "2"], note: "x" };
  const secrets = ["/card/number", "/pins/*"];
  const shown = redact(original, secrets);
  expect(unredact(shown, original, secrets)).toEqual({ ok: true, args: original });
  const changed = { ...shown, pins: ["[redacted]", "9"], note: "[redacted]" };
  const args = { ...original, pins: ["1", "9"], note: "[redacted]" };
  expect(unredact(changed, original, secrets)).toEqual({ ok: true, args });
});

const PAYS = [
  { to: "alice", amount: 1, pin: "A" },
  { to: "bob", amount: 2, pin: "B" },
];
const [ALICE, BOB] = [
  { to: "alice", amount: 1, pin: REDACTED },
  { to: "bob", amount: 2, pin: REDACTED },
];

test.each<[string, JsonObject, JsonObject]>([
  ["nothing", { pays: [ALICE, BOB] }, { pays: PAYS }],
  [
    "one row",
    { pays: [ALICE, { ...BOB, amount: 9 }] },
    { pays: [PAYS[0], { ...PAYS[1], amount: 9 }] as JsonObject[] },
  ],
  [
    "one row, and another's secret",
    {
      pays: [
        { ...ALICE, pin: "new" },
        { ...BOB, amount: 9 },
      ],
    },
    {
      pays: [
        { ...PAYS[0], pin: "new" },
        { ...PAYS[1], amount: 9 },
      ] as JsonObject[],
    },
  ],
  ["all rows, their secrets too", { pays: [{ to: "eve", pin: "E" }] }, { pays: [{ to: "eve", pin: "E" }] }],
])("a row keeps its secret where %s changed", (_, sent, args) => {
  expect(unredact(sent, { pays: PAYS }, ["/pays/*/pin"])).toEqual({ ok: true, args });
});

test.each<[string, JsonObject, string]>([
  ["a row was taken out", { pays: [BOB] }, "pays.0.pin"],
  ["a row was put in", { pays: [ALICE, BOB, { ...BOB, to: "eve" }] }, "pays.0.pin"],
  ["rows changed places", { pays: [BOB, ALICE] }, "pays.0.pin"],
  [
    "rows changed places and more",
    {
      pays: [
        { ...BOB, amount: 8 },
        { ...ALICE, amount: 9 },
      ],
    },
    "pays.0.pin",
  ],
  [
    "a row took another's place",
    {
      pays: [
        { ...BOB, pin: "new" },
        { ...ALICE, amount: 9 },
      ],
    },
    "pays.1.pin",
  ],
  ["it was no list", { other: [ALICE], pays: { 0: ALICE } }, "pays.0.pin"],
])("no row gets another's secret: %s", (_, sent, field) => {
  expect(unredact(sent, { pays: PAYS }, ["/pays/*/pin"])).toEqual({ ok: false, field });
});

test("lists within lists are looked at one by one", () => {
  const original = { days: [{ pays: PAYS }, { pays: [{ to: "eve", pin: "E" }] }] };
  const secrets = ["/days/*/pays/*/pin"];
  const second = { pays: [{ to: "eve", pin: REDACTED }] };
  const edited = { days: [{ pays: [ALICE, { ...BOB, amount: 9 }] }, second] };
  expect(unredact(edited, original, secrets)).toMatchObject({
    ok: true,
    args: { days: [{ pays: [{ pin: "A" }, { amount: 9, pin: "B" }] }, { pays: [{ pin: "E" }] }] },
  });
  const swapped = { days: [{ pays: [BOB, ALICE] }, second] };
  expect(unredact(swapped, original, secrets)).toEqual({ ok: false, field: "days.0.pays.0.pin" });
});

test("what is new has no secret to keep", () => {
  expect(unredact({ cards: { bo: REDACTED } }, { cards: { al: "4111" } }, ["/cards/*"])).toEqual({
    ok: false,
    field: "cards.bo",
  });
});

test("many secrets in many members are each looked for once", () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `k${at}`);
  const args = Object.fromEntries(names.map((name) => [name, 1]));
  const shown = redact(args, [
    "/k7",
    ...names.map((name) => `/*/${name}`),
    ...names.map((name) => `/other-${name}`),
  ]);
  expect(shown).toEqual({ ...args, k7: "[redacted]" });
});

test("a member called `*` is hidden once by a pointer to any member", () => {
  expect(redact({ "*": { pin: 1, name: 2 }, a: { pin: 3 } }, ["/*/pin"])).toEqual({
    "*": { pin: "[redacted]", name: 2 },
    a: { pin: "[redacted]" },
  });
});
