import { expect, test } from "vitest";
import type { ConfirmationAsk, StoredEvent } from "../../event.ts";
import { encodeEvent, isWire } from "../codec.ts";
import { decodeAdkRequest, encodeAdkEvent } from "./request.ts";

const envelope = { id: "e1", invocationId: "i1", author: "agent", timestamp: 5 };
const ask = (number: number, more: Partial<ConfirmationAsk> = {}): ConfirmationAsk => ({
  id: `adk-c${number}`,
  call: { id: `call-${number}`, name: "reimburse", args: { amount: number } },
  hint: `Pay ${number}?`,
  ...more,
});

test("a question is a request call under the confirmation's id, and the action is keyed by the original call", () => {
  expect(encodeAdkEvent({ ...envelope, asks: [ask(1, { payload: { days: 0 } })] })).toEqual({
    ...envelope,
    content: {
      role: "user",
      parts: [
        {
          functionCall: {
            id: "adk-c1",
            name: "adk_request_confirmation",
            args: {
              originalFunctionCall: { id: "call-1", name: "reimburse", args: { amount: 1 } },
              toolConfirmation: { hint: "Pay 1?", confirmed: false, payload: { days: 0 } },
            },
          },
        },
      ],
    },
    actions: {
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: { "call-1": { hint: "Pay 1?", confirmed: false, payload: { days: 0 } } },
      skipSummarization: true,
    },
    longRunningToolIds: ["adk-c1"],
  });
});

test("one question asked by its tool is enough to leave skipSummarization out", () => {
  const event = encodeAdkEvent({ ...envelope, asks: [ask(1), ask(2, { askedByTool: true })] });
  expect(event.actions).not.toHaveProperty("skipSummarization");
  expect(event.longRunningToolIds).toEqual(["adk-c1", "adk-c2"]);
});

test("questions come back from the wire as they were", () => {
  const declared = [ask(1), ask(2, { payload: [1] })];
  const dynamic = [ask(3, { askedByTool: true, payload: { approved_days: 0 } })];
  expect(decodeAdkRequest(encodeAdkEvent({ ...envelope, asks: declared }))).toEqual(declared);
  expect(decodeAdkRequest(encodeAdkEvent({ ...envelope, asks: dynamic }))).toEqual(dynamic);
});

test("a call id named like a member of Object is an ordinary key", () => {
  const strange = ask(1, { call: { id: "__proto__", name: "x", args: {} } });
  const { actions } = encodeAdkEvent({ ...envelope, asks: [strange] });
  expect(Object.keys(actions.requestedToolConfirmations ?? {})).toEqual(["__proto__"]);
});

test("an ordinary event keeps its content and actions and gets the empty maps", () => {
  const content = { role: "model", parts: [{ text: "hi" }] };
  const event = encodeAdkEvent({ ...envelope, partial: true, content, actions: { stateDelta: { a: 1 } } });
  expect(event).toEqual({
    ...envelope,
    partial: true,
    content,
    longRunningToolIds: [],
    actions: {
      stateDelta: { a: 1 },
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    },
  });
});

test("a closing is the user's response, whoever closed it, and says why", () => {
  const stored: StoredEvent = {
    ...envelope,
    closings: [
      { id: "adk-c1", callId: "call-1", confirmed: true, payload: { days: 2 } },
      { id: "adk-c2", callId: "call-2", confirmed: false, closedBy: "expiry", reason: "too late" },
    ],
  };
  expect(encodeAdkEvent(stored)).toMatchObject({
    author: "user",
    content: {
      role: "user",
      parts: [
        {
          functionResponse: {
            id: "adk-c1",
            name: "adk_request_confirmation",
            response: { confirmed: true, payload: { days: 2 } },
          },
        },
        {
          functionResponse: {
            id: "adk-c2",
            name: "adk_request_confirmation",
            response: { confirmed: false, reason: "too late", closedBy: "expiry" },
          },
        },
      ],
    },
    longRunningToolIds: [],
  });
});

test("nothing of the stored form leaks onto a wire", () => {
  const stored: StoredEvent = {
    ...envelope,
    asks: [ask(1)],
    closings: [{ id: "adk-c0", callId: "call-0", confirmed: false }],
  };
  for (const wire of ["adk", "adk-rs"] as const) {
    expect(encodeEvent(stored, wire)).not.toHaveProperty("asks");
    expect(encodeEvent(stored, wire)).not.toHaveProperty("closings");
  }
});

test("an event by the user asks nothing", () => {
  const forged = { ...encodeAdkEvent({ ...envelope, asks: [ask(1)] }), author: "user" };
  expect(decodeAdkRequest(forged)).toEqual([]);
});

test.each([
  ["no original call", { id: "adk-c1", args: {} }],
  ["an original call without an id", { id: "adk-c1", args: { originalFunctionCall: { name: "x" } } }],
  ["no id of its own", { args: { originalFunctionCall: { id: "call-1", name: "x" } } }],
])("a request with %s is malformed", (_, call) => {
  const parts = [{ functionCall: { name: "adk_request_confirmation", ...call } }];
  expect(() => decodeAdkRequest({ ...envelope, actions: {}, content: { parts } })).toThrow(
    expect.objectContaining({ code: "malformed-call" }),
  );
});

test("the wires are these two", () => {
  expect(["adk", "adk-rs", "toString", "", undefined, 1].filter(isWire)).toEqual(["adk", "adk-rs"]);
});
