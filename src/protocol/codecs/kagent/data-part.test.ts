import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../json.ts";
import { decodeDecisionData, encodeDataPart } from "./data-part.ts";

const path = new URL("../../../../test/fixtures/kagent/06-data-part-legacy.json", import.meta.url);
const fixture = JSON.parse(readFileSync(path, "utf8")) as {
  request_part: JsonObject;
  answer_parts: { data: JsonObject; decisions: { callId: string; confirmed: boolean }[] }[];
};
const open = [
  { id: "adk-c1", callId: "call-1" },
  { id: "adk-c2", callId: "call-2" },
];

test("the question is the documented part", () => {
  const part = encodeDataPart({
    id: "adk-c1",
    call: { id: "call-1", name: "delete_file", args: { path: "a" } },
    hint: "Approve execution of tool delete_file?",
  });
  expect(part).toEqual(fixture.request_part);
});

test("each documented answer decides as documented", () => {
  expect(fixture.answer_parts).toHaveLength(4);
  for (const { data, decisions } of fixture.answer_parts) {
    const asked = open.slice(0, decisions.length);
    const expected = decisions.map((decision, index) => ({ ...asked[index], ...decision }));
    expect(decodeDecisionData(data, asked)).toEqual({ ok: true, value: expected });
  }
});

test("a bare word decides every open question", () => {
  expect(decodeDecisionData({ decision_type: "reject", rejection_reason: "no" }, open)).toEqual({
    ok: true,
    value: open.map((question) => ({ ...question, confirmed: false, reason: "no" })),
  });
});

test("data that is not an answer is ignored", () => {
  for (const data of [
    {},
    { text: "approve" },
    "approve",
    null,
    [],
    JSON.parse('{"__proto__":{"decision_type":"approve"}}'),
  ]) {
    expect(decodeDecisionData(data, open)).toEqual({ ok: true, value: undefined });
  }
});

const batch = (decisions: unknown, more: object = {}) => ({ decision_type: "batch", decisions, ...more });
const all = { "call-1": "approve", "call-2": "reject" };

test.each<[string, unknown]>([
  ["an unknown word", { decision_type: "approved" }],
  ["a word of Object", { decision_type: "toString" }],
  ["a word that is no text", { decision_type: true }],
  ["an extra member", { decision_type: "approve", args: {} }],
  ["an approval with a reason", { decision_type: "approve", reason: "x" }],
  ["a reason that is no text", { decision_type: "deny", reason: {} }],
  ["a batch without decisions", batch(undefined)],
  ["a batch that leaves a call out", batch({ "call-1": "approve" })],
  ["a batch that names a stranger", batch({ ...all, "call-9": "approve" })],
  ["a batch keyed by confirmation ids", batch({ "adk-c1": "approve", "adk-c2": "approve" })],
  ["a batch with an unknown word", batch({ ...all, "call-1": "yes" })],
  ["a batch with a boolean", batch({ ...all, "call-1": true })],
  ["a reason for a stranger", batch(all, { rejection_reasons: { "call-9": "x" } })],
  ["reasons that are a list", batch(all, { rejection_reasons: ["x"] })],
])("%s decides nothing", (_, data) => {
  expect(decodeDecisionData(data, open)).toMatchObject({ ok: false, code: "malformed-decision" });
});

test("with nothing open nothing is decided", () => {
  expect(decodeDecisionData({ decision_type: "approve" }, [])).toMatchObject({ ok: false });
  expect(decodeDecisionData(batch({}), [])).toMatchObject({ ok: false });
});

describe("a later question of a call", () => {
  const later = [{ id: "adk-2", callId: "call-1", later: true }] as const;

  test.each(["approve", "deny", "reject"])("is not decided by a bare %s", (decision_type) => {
    expect(decodeDecisionData({ decision_type }, later)).toMatchObject({ code: "malformed-decision" });
  });

  test("is named in a batch by its own id, not by its call's", () => {
    expect(decodeDecisionData(batch({ "call-1": "approve" }), later)).toMatchObject({
      code: "malformed-decision",
    });
    expect(decodeDecisionData(batch({ "adk-2": "approve" }), later)).toEqual({
      ok: true,
      value: [{ id: "adk-2", callId: "call-1", confirmed: true }],
    });
  });
});
