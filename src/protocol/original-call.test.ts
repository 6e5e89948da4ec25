import { expect, test } from "vitest";
import type { JsonObject } from "./json.ts";
import { originalCallFrom } from "./original-call.ts";

const request = (args: JsonObject) => ({ id: "adk-7", name: "adk_request_confirmation", args });
const original = { id: "call-1", name: "transfer_money", args: { amount: 100 } };

test("the original call is read from a raw map, in either spelling", () => {
  expect(originalCallFrom(request({ originalFunctionCall: original }))).toEqual(original);
  expect(originalCallFrom(request({ original_function_call: original }))).toEqual(original);
});

test("a call without arguments or id is a call", () => {
  expect(originalCallFrom(request({ originalFunctionCall: { name: "ping" } }))).toEqual({
    name: "ping",
    args: {},
  });
});

test("arguments that look like members of the protocol are left alone", () => {
  const args = { function_call: 1, original_function_call: { x: 1 }, __proto__x: null };
  const call = originalCallFrom(request({ originalFunctionCall: { ...original, args } }));
  expect(call.args).toEqual(args);
});

test.each<[string, JsonObject]>([
  ["missing", {}],
  ["null", { originalFunctionCall: null }],
  ["a text", { originalFunctionCall: "transfer_money" }],
  ["a list", { originalFunctionCall: [original] }],
  ["nameless", { originalFunctionCall: { args: {} } }],
  ["of an empty name", { originalFunctionCall: { name: "", args: {} } }],
  ["with arguments that are no object", { originalFunctionCall: { name: "x", args: [1] } }],
  ["given twice", { originalFunctionCall: original, original_function_call: original }],
])("an original call that is %s is refused under the request's id", (_, args) => {
  expect(() => originalCallFrom(request(args))).toThrow(expect.objectContaining({ code: "malformed-call" }));
  expect(() => originalCallFrom(request(args))).toThrow("adk-7");
});
