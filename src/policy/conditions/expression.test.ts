import { expect, test } from "vitest";
import type { JsonObject } from "../../protocol/index.ts";
import { exampleFacts as facts } from "../testing/example-call.ts";
import { compileExpression } from "./expression.ts";
import { resetLoops } from "./strict-values.ts";

function judge(text: string, args: JsonObject = {}): boolean | string {
  const compiled = compileExpression(text);
  if (!compiled.ok) return `refused at ${compiled.flaw.offset}: ${compiled.flaw.message}`;
  try {
    return compiled.expression.holds(facts({ args }));
  } catch (error) {
    return `error: ${(error as Error).message.split("\n")[0]}`;
  }
}

test.each<[string, JsonObject, boolean]>([
  ["args.amount > 1000.0", { amount: 1000.5 }, true],
  ["args.amount > 1000", { amount: 1000 }, false],
  ["args.amount >= 1000", { amount: 1000 }, true],
  ["args.amount == 5", { amount: 5 }, true],
  ["args.amount != 5", { amount: 5 }, false],
  ["args.amount * 2.0 > 9.5", { amount: 5 }, true],
  ["-args.amount < 0", { amount: 5 }, true],
  ["args.to in ['ana', 'bob']", { to: "bob" }, true],
  ["args.to in ['ana', 'bob']", { to: "zoe" }, false],
  ["'a' in args", { a: null }, true],
  ["args.note == null", { note: null }, true],
  ["args.note == null", { note: "x" }, false],
  ["has(args.note)", {}, false],
  ["has(args.toString)", {}, false],
  ["has(args.note) && args.note == 'x'", {}, false],
  ["args.items.exists(i, i.price > 10)", { items: [{ price: 1 }, { price: 11 }] }, true],
  ["args.items.all(i, i.tags.exists(t, t == 'ok'))", { items: [{ tags: ["ok"] }] }, true],
  ["args.items.filter(i, i > 1).size() == 1", { items: [1, 2] }, true],
  ["size(args.items.map(i, i + 1.0)) == 2", { items: [1, 2] }, true],
  ["args.path.startsWith('/etc/') || args.path.contains('..')", { path: "/etc/x" }, true],
  ["re2(args.path, '^/(etc|root)/')", { path: "/root/x" }, true],
  ["re2(args.path, '^/(etc|root)/')", { path: "/home/x" }, false],
  ["args['odd name'] == 1", { "odd name": 1 }, true],
  ["args.rows[1] == 'b'", { rows: ["a", "b"] }, true],
  ["args.amount > {'EUR': 100.0, 'USD': 110.0}[args.currency]", { amount: 105, currency: "EUR" }, true],
  ["number(args.amount) > 12.25", { amount: "12.50" }, true],
  ["args.dry ? false : true", { dry: false }, true],
  ["args.dry", { dry: true }, true],
  ["user.roles.exists(r, r == 'finance')", {}, true],
  ["time.hour == 13 && time.weekday == 'mon' && time.date == '2026-11-16'", {}, true],
  ["tool.name == 'pay' && app == 'bank' && agent == 'clerk'", {}, true],
  ["state.limit < args.amount", { amount: 51 }, true],
  ["args.exists(name, name == 'force')", { force: true }, true],
  ["args.to in {'ana': 1, 'bob': 2}", { to: "bob" }, true],
  ["size(args) == 1 && size({'a': 1}) == 1", { to: "bob" }, true],
  ["'x-key' in keys(args.headers)", { headers: { "x-key": "1" } }, true],
  ["keys(args.headers).exists(name, name.startsWith('x-'))", { headers: { accept: "1" } }, false],
  ["size(keys(args.headers)) == 1", { headers: { accept: "1" } }, true],
])("%s with %j is %s", (text, args, expected) => {
  expect(judge(text, args)).toBe(expected);
});

test.each<[string, JsonObject]>([
  ["args.amount > 1000.0", {}],
  ["args.amount > 1000.0", { amount: "5000" }],
  ["args.amount > 1000.0", { amount: null }],
  ["args.amount > 1000.0", { amount: [5000] }],
  ["args.amount > 1000.0", { amount: true }],
  ["args.amount == 5000", { amount: "5000" }],
  ["args.amount != 5000", { amount: "5000" }],
  ["args.env == 'prod'", { env: ["prod"] }],
  ["args.env == 'prod'", { env: null }],
  ["args.env == 'prod'", { env: { toString: "prod" } }],
  ["args.env in ['prod']", { env: ["prod"] }],
  ["args.env in ['prod']", { env: null }],
  ["args.list == ['a', 'b']", { list: ["a", 1] }],
  ["has(args.order.amount) && args.order.amount > 5", { order: "6" }],
  ["args.rows['0'] == 'a'", { rows: ["a"] }],
  ["args.map[0] == 'a'", { map: { 0: "a" } }],
  ["args.constructor == 'x'", {}],
  ["args.__proto__ == 'x'", {}],
  ["args.a / args.b > 0.5", { a: 0, b: 0 }],
  ["args.a * args.a - args.a * args.a > 1.0", { a: 1e308 }],
  ["args.flag", { flag: "true" }],
  ["args.flag", { flag: 1 }],
  ["!args.flag", { flag: 0 }],
  ["args.flag ? true : false", { flag: 1 }],
  ["args.items.exists(i, i == 1)", { items: "abc" }],
  ["args.items.exists(i, i == 1)", { items: ["1"] }],
  ["args.items.exists(i, i == 1)", { items: Array.from({ length: 1_001 }, () => 1) }],
  ["'x' in args.items", { items: Array.from({ length: 1_001 }, () => "x") }],
  ["args.items.exists(i, i == 'b')", { items: { 0: "b" } }],
  ["!args.items.all(i, i.startsWith('b'))", { items: { b: "a" } }],
  ["args.items.exists_one(i, i == 'b')", { items: { 0: "b" } }],
  ["args.items.filter(i, i == 'b') == ['b']", { items: { 0: "b" } }],
  ["args.rows.exists(row, row.exists(i, i == 'b'))", { rows: [{ 0: "b" }] }],
  ["'b' in args.items", { items: { 0: "b" } }],
  ["size(args.items) > 1", { items: { all: ["a", "b"] } }],
  ["args.items.size() > 1", { items: { all: ["a", "b"] } }],
  ["'x-key' in keys(args.headers)", { headers: ["X-Key"] }],
  ["'x-key' in keys(args.headers)", { headers: "" }],
  ["number(args.amount) > 5.0", { amount: "nan" }],
  ["number(args.amount) > 5.0", { amount: "0x10" }],
  ["number(args.amount) > 5.0", { amount: "1e9" }],
  ["number(args.amount) > 5.0", { amount: "" }],
  ["re2(args.path, 'x')", { path: 5 }],
  ["re2(args.path, 'x')", { path: "x".repeat(100_001) }],
  ["args.path.startsWith('/etc')", { path: ["/etc"] }],
])("%s with a value that does not fit is an error, not false: %#", (text, args) => {
  expect(judge(text, args)).toMatch(/^error: /);
});

test.each<[string, string]>([
  ["amount > 5", 'refused at 0: "amount" is not known; use args'],
  ["args.amount > 99999999999999999999", "refused at 14: integers must be smaller than 2^53"],
  ["args.amount > 5u", "refused at 14: bytes and unsigned integers are not available"],
  ["args.x == b'abc'", "refused at 10: bytes and unsigned integers are not available"],
  ["args.x.matches('a+')", "refused at 0: matches() is not available; use re2("],
  ["re2(args.x, args.y)", "refused at 0: re2() takes a text and a pattern in quotes"],
  ["re2(args.x, '(a')", "refused at 12: the pattern is not valid"],
  ["re2(args.x, '(a)\\\\1')", "refused at 12: the pattern is not valid"],
  ["type(args.x) == int", "refused at 0: type() is not available"],
  ["timestamp('2026-01-01T00:00:00Z') == args.x", "refused at 0: timestamp() is not available"],
  ["duration('1h') == args.x", "refused at 0: duration() is not available"],
  ["int(args.x) > 5", "refused at 0: int() is not available"],
  ["double(args.x) > 5.0", "refused at 0: double() is not available"],
  ["dyn(args.x) == 5", "refused at 0: dyn() is not available"],
  ["cel.bind(x, args.a, x > 5.0)", "refused at 0: bind() is not available"],
  ["{1: 2}[1] == 2", "refused at 1: the keys of a map must be texts"],
  ["{'a': 1, 'a': 2}['a'] == 2", 'refused at 9: the map has "a" twice'],
  ["args.a.exists(x, x.b.exists(y, y.c.exists(z, z == 1)))", "refused at 31: loops may be at most two deep"],
  ["args.a.map(x, x).map(y, y).exists(z, z == 1)", "refused at 0: loops may be at most two deep"],
  ["args.a.exists(args, args == 1)", 'refused at 14: "args" is already used'],
  ["args.a * 2 > 5", "refused at 9: arguments are decimal numbers; write 2.0 instead of 2"],
  ["args.a > 'x'", "refused at 9: > compares numbers only"],
  ["size(args.items)", "refused at 0: the condition is a int; it must be true or false"],
  ["'yes'", "refused at 0: the condition is a string; it must be true or false"],
  ["user.rolez.exists(r, r == 'x')", "refused at 5: No such key: rolez"],
  ["user.roles.exists(r, r == 5)", "refused at 21: no such overload: string == int"],
  ["args.amount >", "refused at 13: "],
  ["google.protobuf.Duration == 1", 'refused at 0: "google" is not known'],
  [`args.a == ${"(".repeat(60)}1${")".repeat(60)}`, "refused at "],
  [`${"args.a == 1 || ".repeat(300)}true`, "refused at 0: a condition may have at most 4000 characters"],
])("%s is refused when the file is loaded", (text, expected) => {
  expect(judge(text)).toContain(expected);
});

const count = (length: number) => ({ items: Array.from({ length }, (_, i) => i) });

test("loops inside loops end: all of them together go through a limited number of items", () => {
  const twice = "args.items.exists(a, args.items.exists(b, a + b < 0.0))";
  resetLoops();
  expect(judge(twice, count(300))).toBe(false);
  resetLoops();
  expect(judge(twice, count(999))).toMatch(/^error: .*too many items/);
  resetLoops();
});

test("a pattern that would hang a backtracking engine is judged at once", () => {
  const started = performance.now();
  expect(judge("re2(args.text, '^(a+)+$')", { text: `${"a".repeat(50_000)}!` })).toBe(false);
  expect(performance.now() - started).toBeLessThan(2_000);
});

test("what a condition reads is known before it is judged", () => {
  const compiled = compileExpression("args.order.amount > 5.0 && user.roles.exists(r, r == args.role)");
  expect(compiled).toMatchObject({
    ok: true,
    expression: {
      reads: [
        ["args", "order", "amount"],
        ["user", "roles"],
        ["args", "role"],
      ],
    },
  });
});

test.each([
  ["args.table[args.pin] == 1", { table: {}, pin: "hunter2" }],
  ["args.list[args.pin] == 1", { list: [], pin: 4711 }],
])("the error of %s does not tell the key: it may be a secret", (text, args) => {
  const told = judge(text, args);
  expect(told).toMatch(/^error: the (map|list) has no such/);
  expect(told).not.toMatch(/hunter2|4711/);
});
