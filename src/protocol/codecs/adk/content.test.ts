import fc from "fast-check";
import { expect, test } from "vitest";
import { parseContent } from "./content.ts";

test("known members are read in snake_case as in camelCase", () => {
  const snake = {
    role: "model",
    parts: [
      { function_call: { id: "c1", name: "x", args: {} } },
      { function_response: { id: "c1", name: "x", response: {}, will_continue: true } },
      { inline_data: { mime_type: "image/png", data: "AA==" } },
      { file_data: { file_uri: "gs://a", mime_type: "text/plain" } },
      { text: "t", thought: true, thought_signature: "s" },
    ],
  };
  expect(parseContent(snake)).toEqual({
    ok: true,
    value: {
      role: "model",
      parts: [
        { functionCall: { id: "c1", name: "x", args: {} } },
        { functionResponse: { id: "c1", name: "x", response: {}, willContinue: true } },
        { inlineData: { mimeType: "image/png", data: "AA==" } },
        { fileData: { fileUri: "gs://a", mimeType: "text/plain" } },
        { text: "t", thought: true, thoughtSignature: "s" },
      ],
    },
  });
});

test("names inside arguments and responses are data and stay, whatever they look like", () => {
  const data = {
    function_call: { mime_type: 1 },
    functionCall: 2,
    __proto__x: { long_running_tool_ids: [] },
  };
  const hostile: unknown = JSON.parse(
    '{"__proto__": {"function_response": 1}, "constructor": {"prototype": 2}}',
  );
  const message = {
    parts: [
      { functionCall: { name: "x", args: data } },
      { function_response: { name: "x", response: hostile } },
    ],
  };
  const outcome = parseContent(message);
  expect(outcome.ok && outcome.value.parts[0]?.functionCall?.args).toEqual(data);
  expect(JSON.stringify(outcome.ok && outcome.value.parts[1]?.functionResponse?.response)).toBe(
    JSON.stringify(hostile),
  );
});

test("parts of a kind not known here pass unharmed", () => {
  const parts = [
    { executableCode: { language: "PYTHON", code: "1" } },
    { some_new_kind: { inner_name: 1 }, __proto__x: 1 },
    {},
    { text: "" },
  ];
  expect(parseContent({ parts })).toEqual({ ok: true, value: { parts } });
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.string().map((name) => `x-${name}`),
        fc.jsonValue(),
      ),
      (part) => {
        const json: unknown = JSON.parse(JSON.stringify(part));
        expect(parseContent({ parts: [json] })).toEqual({ ok: true, value: { parts: [json] } });
      },
    ),
  );
});

test("null means not set for known members", () => {
  const outcome = parseContent({
    role: null,
    parts: [{ text: "a", function_call: null, functionResponse: null }],
  });
  expect(outcome).toEqual({ ok: true, value: { parts: [{ text: "a" }] } });
});

test("a call without arguments has none, and an empty id is no id", () => {
  const outcome = parseContent({ parts: [{ functionCall: { id: "", name: "ping" } }] });
  expect(outcome).toEqual({ ok: true, value: { parts: [{ functionCall: { name: "ping", args: {} } }] } });
});

test.each<[string, unknown, string]>([
  ["a text", "hello", ""],
  ["a list", [], ""],
  ["no parts", { role: "user" }, "parts"],
  ["parts that are no list", { parts: {} }, "parts"],
  ["a role that is no text", { role: 1, parts: [] }, "role"],
  ["a part that is a text", { parts: ["hello"] }, "parts[0]"],
  ["a text that is a number", { parts: [{}, { text: 1 }] }, "parts[1].text"],
  ["a call without a name", { parts: [{ functionCall: { args: {} } }] }, "parts[0].functionCall.name"],
  [
    "a call whose arguments are a list",
    { parts: [{ functionCall: { name: "x", args: [] } }] },
    "parts[0].functionCall.args",
  ],
  [
    "a response without a response",
    { parts: [{ functionResponse: { name: "x" } }] },
    "parts[0].functionResponse.response",
  ],
  [
    "a call in both spellings",
    { parts: [{ functionCall: { name: "x" }, function_call: { name: "y" } }] },
    "parts[0]",
  ],
])("%s is refused with its place", (_, message, path) => {
  expect(parseContent(message)).toMatchObject({ ok: false, code: "malformed-request", path });
});

test("what is not JSON is refused with its place", () => {
  expect(parseContent({ parts: [{ text: "\ud800" }] })).toMatchObject({
    ok: false,
    code: "malformed-json",
    path: "parts[0].text",
  });
});

test("no value makes it throw", () => {
  fc.assert(fc.property(fc.anything(), (value) => typeof parseContent(value).ok === "boolean"));
});
