import { expect, test } from "vitest";
import { readClientMessage, toClientMessage, toWire } from "./client-message.ts";

const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "write", arguments: { a: 1 } } };
const read = (text: string | Uint8Array) =>
  readClientMessage(typeof text === "string" ? Buffer.from(text) : text);
const raw = JSON.stringify;

test.each([
  CALL,
  { ...CALL, id: "one" },
  { ...CALL, params: { ...CALL.params, _meta: { progressToken: 7, "example.com/trace": [1] } } },
  { jsonrpc: "2.0", id: 2, method: "ping" },
  { jsonrpc: "2.0", id: 2, method: "tools/list", params: { cursor: "x" } },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1, reason: "enough" } },
  { jsonrpc: "2.0", id: 3, result: { role: "assistant", anything: { __proto__: null } } },
  { jsonrpc: "2.0", id: 3, error: { code: -1, message: "no", data: [1] } },
])("%j is understood, and written anew as it was", (message) => {
  const judged = read(raw(message));
  if (judged.kind === "refused") throw new Error(judged.message);
  expect(toWire(judged)).toEqual(JSON.parse(raw(message)));
  expect(toClientMessage(message)).toEqual(judged);
});

test.each<[string, string, number | string | null | undefined]>([
  ["a method in a list", raw({ ...CALL, method: ["tools/call"] }), 1],
  ["no method", raw({ jsonrpc: "2.0", id: 1 }), 1],
  ["a method in another case", raw({ ...CALL, method: "Tools/Call" }), 1],
  ["a method of a later protocol", raw({ ...CALL, method: "tasks/create" }), 1],
  ["a method on every object", raw({ ...CALL, method: "constructor" }), 1],
  ["a member in another case", raw({ jsonrpc: "2.0", id: 1, Method: "tools/call", params: CALL.params }), 1],
  ["a second one in another case", raw({ ...CALL, Params: { name: "look" } }), 1],
  ["a member twice", '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}', null],
  ["one twice in escapes", '{"jsonrpc":"2.0","id":1,"method":"ping","\\u006dethod":"tools/call"}', null],
  ["a member twice inside", raw(CALL).replace('"a":1', '"a":1,"a":2'), null],
  ["a member nobody knows", raw({ ...CALL, params: { ...CALL.params, force: true } }), 1],
  ["a name in another case", raw({ ...CALL, params: { ...CALL.params, Name: "look" } }), 1],
  ["a prototype", '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"method":"tools/call"}}', 1],
  ["a prototype inside", raw(CALL).replace('"name"', '"__proto__":{"name":"look"},"name"'), 1],
  ["several at once", raw([CALL]), null],
  ["params in a list", raw({ ...CALL, params: [CALL.params] }), 1],
  ["params in a text", raw({ ...CALL, params: raw(CALL.params) }), 1],
  ["params that are null", raw({ ...CALL, params: null }), 1],
  ["arguments in a text", raw({ ...CALL, params: { name: "write", arguments: "{}" } }), 1],
  ["no name", raw({ ...CALL, params: { arguments: {} } }), 1],
  ["a call that wants no answer", raw({ ...CALL, id: undefined }), undefined],
  ["an id that is null", raw({ ...CALL, id: null }), null],
  ["an id that is a fraction", raw({ ...CALL, id: 1.5 }), null],
  ["an id that would be rounded", raw(CALL).replace('"id":1', '"id":9007199254740993'), null],
  ["an id in a list", raw({ ...CALL, id: [1] }), null],
  ["another version", raw({ ...CALL, jsonrpc: "1.0" }), 1],
  ["a call that is an answer too", raw({ ...CALL, result: {} }), 1],
  ["an answer without an id", raw({ jsonrpc: "2.0", result: {} }), undefined],
  [
    "an answer of two kinds",
    raw({ jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "" } }),
    undefined,
  ],
  ["an answer that is no object", raw({ jsonrpc: "2.0", id: 1, result: "yes" }), undefined],
  ["a number that would be rounded", raw(CALL).replace('"a":1', '"a":9007199254740993'), null],
  ["a number beyond all", raw(CALL).replace('"a":1', '"a":1e999'), null],
  ["half a character", raw({ ...CALL, params: { name: "write\ud800" } }), null],
  ["a comment", `${raw(CALL)}// x`, null],
  ["two messages", raw(CALL) + raw(CALL), null],
  ["a mark at the beginning", `\ufeff${raw(CALL)}`, null],
  ["NaN", raw(CALL).replace('"a":1', '"a":NaN'), null],
  ["a progress token in a list", raw({ ...CALL, params: { name: "w", _meta: { progressToken: [1] } } }), 1],
  ["nesting without end", raw(CALL).replace('"a":1', `"a":${"[".repeat(5_000)}${"]".repeat(5_000)}`), null],
])("%s is refused", (_, text, id) => {
  expect(read(text)).toMatchObject({ kind: "refused", id });
});

test("bytes that are no UTF-8 are refused", () => {
  const bytes = Buffer.from(raw(CALL));
  bytes[bytes.indexOf("write")] = 0xff;
  expect(read(bytes)).toMatchObject({ kind: "refused", id: null });
});

test("a message that is larger than allowed is refused", () => {
  const large = raw({ ...CALL, params: { name: "write", arguments: { a: "x".repeat(17 * 1024 * 1024) } } });
  expect(read(large)).toMatchObject({ kind: "refused", id: null });
});

test("an object that changes after it was judged changes nothing", () => {
  const params = { name: "look" };
  const judged = toClientMessage({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  params.name = "write";
  expect(judged).toMatchObject({ params: { name: "look" } });
});
