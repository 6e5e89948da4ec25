import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../json.ts";
import { decodeAskUserRequest, decodeAskUserResponse, encodeAskUserRequest } from "./ask-user.ts";
import { KAGENT_HITL_EXTENSION, readHitlPayload, toHitlEnvelope } from "./hitl-v1.ts";
import {
  decodeToolApprovalRequest,
  decodeToolApprovalResponse,
  encodeToolApprovalRequest,
} from "./tool-approval.ts";

const folder = new URL("../../../../test/fixtures/kagent/", import.meta.url);
interface Fixture {
  readonly request: JsonObject;
  readonly response: JsonObject;
  readonly responses: readonly { why: string; payload: JsonValue }[];
  readonly decisions: readonly { id: string; confirmed: boolean }[];
}
const fixture = (name: string) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Fixture;
const payloadIn = (message: unknown) => {
  const outcome = readHitlPayload(message);
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.value;
};

test("these are the fixtures", () => {
  expect(readdirSync(folder).toSorted()).toEqual([
    "01-one-tool.json",
    "02-two-tools-mixed.json",
    "03-invalid-responses.json",
    "04-ask-user.json",
    "05-nested.json",
    "06-data-part-legacy.json",
  ]);
});

test.each(["01-one-tool.json", "02-two-tools-mixed.json", "05-nested.json"])(
  "the request of %s, decoded and encoded again, is the fixture",
  (name) => {
    const { request } = fixture(name);
    const outcome = decodeToolApprovalRequest(payloadIn(request));
    if (!outcome.ok) throw new Error(outcome.message);
    const envelope = toHitlEnvelope(encodeToolApprovalRequest(outcome.value));
    expect(envelope).toEqual({ extensions: request["extensions"], metadata: request["metadata"] });
  },
);

test.each(["01-one-tool.json", "02-two-tools-mixed.json"])(
  "the response of %s decides as the fixture says",
  (name) => {
    const { response, decisions } = fixture(name);
    const ids = decisions.map((decision) => decision.id);
    expect(decodeToolApprovalResponse(payloadIn(response), ids)).toEqual({ ok: true, value: decisions });
  },
);

test("a nested pause is answered by the child's ids, never by the parent's", () => {
  const { request, response } = fixture("05-nested.json");
  const outcome = decodeToolApprovalRequest(payloadIn(request));
  const nested = outcome.ok ? outcome.value.nested : undefined;
  expect(nested).toMatchObject({
    subagentName: "cluster_agent",
    taskId: "child-task-1",
    contextId: "child-ctx-1",
  });
  const childIds = nested?.asks.map((ask) => ask.id) ?? [];
  expect(decodeToolApprovalResponse(payloadIn(response), childIds)).toEqual({
    ok: true,
    value: [{ id: "adk-k1", confirmed: true }],
  });
  expect(decodeToolApprovalResponse(payloadIn(response), ["adk-p1"])).toMatchObject({ ok: false });
});

const invalid = fixture("03-invalid-responses.json").responses;

test("there are seven invalid responses", () => {
  expect(invalid).toHaveLength(7);
});

test.each(invalid)("an approval response is refused whole: $why", ({ payload }) => {
  expect(decodeToolApprovalResponse(payload, ["adk-c1", "adk-c2"])).toMatchObject({
    ok: false,
    code: "malformed-decision",
  });
});

const approval = { id: "adk-c1", approved: true };

test.each<[string, unknown]>([
  ["no object", "approve"],
  ["no approvals", { type: "tool_approval_response" }],
  [
    "an extra member beside the approvals",
    { type: "tool_approval_response", approvals: [approval], all: true },
  ],
  ["an approval that is a text", { type: "tool_approval_response", approvals: ["adk-c1"] }],
  ["no verdict", { type: "tool_approval_response", approvals: [{ id: "adk-c1" }] }],
  [
    "an inherited verdict",
    {
      type: "tool_approval_response",
      approvals: [JSON.parse('{"id":"adk-c1","__proto__":{"approved":true}}')],
    },
  ],
  [
    "a reason that is a number",
    { type: "tool_approval_response", approvals: [{ ...approval, rejection_reason: 1 }] },
  ],
])("an approval response with %s is refused", (_, payload) => {
  expect(decodeToolApprovalResponse(payload, ["adk-c1"])).toMatchObject({
    ok: false,
    code: "malformed-decision",
  });
});

test("a null reason is none, and a reason beside an approval is dropped, as kagent does", () => {
  const approvals = [
    { id: "a", approved: false, rejection_reason: null },
    { id: "b", approved: true, rejection_reason: "x" },
  ];
  expect(decodeToolApprovalResponse({ type: "tool_approval_response", approvals }, ["a", "b"])).toEqual({
    ok: true,
    value: [
      { id: "a", confirmed: false },
      { id: "b", confirmed: true },
    ],
  });
});

test("a message that declares the extension must carry it, and one that carries it must declare it", () => {
  const { response } = fixture("01-one-tool.json");
  expect(readHitlPayload({ ...response, extensions: [] })).toMatchObject({ ok: false, path: "extensions" });
  expect(readHitlPayload({ ...response, metadata: {} })).toMatchObject({ ok: false });
  expect(readHitlPayload({ ...response, metadata: { [KAGENT_HITL_EXTENSION]: "approve" } })).toMatchObject({
    ok: false,
  });
  expect(readHitlPayload({ role: "user", parts: [] })).toEqual({ ok: true, value: undefined });
});

const questions = fixture("04-ask-user.json");
const asked = {
  id: "adk-q1",
  questions: [
    { question: "Which region?", choices: ["eu", "us"], multiple: false },
    { question: "Which add-ons?", choices: ["backup", "audit"], multiple: true },
    { question: "Anything else?", choices: [], multiple: false },
  ],
};

test("questions are encoded and decoded as the fixture has them", () => {
  expect(decodeAskUserRequest(payloadIn(questions.request))).toEqual({ ok: true, value: asked });
  expect(encodeAskUserRequest(asked)).toEqual(payloadIn(questions.request));
});

test("answers are positional", () => {
  expect(decodeAskUserResponse(payloadIn(questions.response), asked)).toEqual({
    ok: true,
    value: [["eu"], ["backup", "audit"], ["keep it cheap"]],
  });
});

test.each<[string, object]>([
  ["another id", { id: "adk-q2" }],
  ["another type", { type: "tool_approval_response" }],
  ["too few answers", { answers: [{ answer: ["eu"] }] }],
  ["no answers", { answers: null }],
  ["an answer that is a text", { answers: [{ answer: "eu" }, { answer: [] }, { answer: [] }] }],
  [
    "two answers to a single question",
    { answers: [{ answer: ["eu", "us"] }, { answer: [] }, { answer: [] }] },
  ],
  ["an extra member", { approved: true }],
])("answers with %s are refused", (_, change) => {
  const payload = { ...payloadIn(questions.response), ...change };
  expect(decodeAskUserResponse(payload, asked)).toMatchObject({ ok: false, code: "malformed-decision" });
});
