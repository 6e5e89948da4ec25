import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Part } from "../../content.ts";
import type { ConfirmationAsk, Event } from "../../event.ts";
import { parseEvent } from "../adk/event.ts";
import { decodeAnswers } from "../answers.ts";
import { decodeAdkRsRequest, encodeAdkRsEvent } from "./request.ts";

const path = new URL("../../../../test/fixtures/adk-rs/01-pause-and-answers.json", import.meta.url);
const fixture = JSON.parse(readFileSync(path, "utf8")) as {
  request_part: Part;
  event_fields: Pick<Event, "actions" | "longRunningToolIds">;
  answers: { part: Part; decision?: { callId: string; confirmed: boolean }; warning?: string }[];
};
const envelope = { id: "e1", invocationId: "i1", author: "agent", timestamp: 5 };
const ask: ConfirmationAsk = {
  id: "adk-c1",
  call: { id: "call-1", name: "transfer_money", args: { amount: 100 } },
  hint: "Approve this transfer?",
};

test("the pause is the documented response and the documented fields", () => {
  const event = encodeAdkRsEvent({ ...envelope, asks: [ask] });
  expect(event.content).toEqual({ role: "user", parts: [fixture.request_part] });
  expect(event).toMatchObject(fixture.event_fields);
});

test("the documented pause, decoded and encoded again, is itself", () => {
  const content = { role: "user", parts: [fixture.request_part] };
  const outcome = parseEvent({ ...envelope, content, ...fixture.event_fields });
  if (!outcome.ok) throw new Error(outcome.message);
  const asks = decodeAdkRsRequest(outcome.value);
  expect(asks).toEqual([{ ...ask, id: "call-1" }]);
  expect(encodeAdkRsEvent({ ...envelope, asks })).toMatchObject(outcome.value);
});

test("each documented answer is judged as documented", () => {
  expect(fixture.answers).toHaveLength(4);
  for (const { part, decision, warning } of fixture.answers) {
    const { decisions, warnings, refused } = decodeAnswers({ role: "user", parts: [part] });
    const found = decisions.map(({ id, ...answer }) => ({ callId: id, ...answer }));
    expect(found).toEqual(decision === undefined ? [] : [decision]);
    expect(warnings).toEqual(warning === undefined ? [] : [warning]);
    expect(refused).toEqual([]);
  }
});

test("a closing answers under the original call's id", () => {
  const event = encodeAdkRsEvent({
    ...envelope,
    closings: [{ id: "adk-c1", callId: "call-1", confirmed: true }],
  });
  expect(event.author).toBe("user");
  expect(decodeAnswers(event).decisions).toEqual([{ id: "call-1", confirmed: true }]);
});

test("a later question of a call, and its closing, have the confirmation's own id", () => {
  const later = { ...ask, later: true } as const;
  const event = encodeAdkRsEvent({ ...envelope, asks: [later] });
  expect(event.longRunningToolIds).toEqual(["adk-c1"]);
  expect(event.content?.parts).toMatchObject([
    { functionResponse: { id: "adk-c1", response: { originalFunctionCall: { id: "call-1" } } } },
  ]);
  expect(event.actions).toMatchObject({ requestedToolConfirmations: { "call-1": {} } });
  expect(decodeAdkRsRequest(event)).toEqual([later]);
  const closings = [{ id: "adk-c1", callId: "call-1", later: true, confirmed: true }] as const;
  const closed = encodeAdkRsEvent({ ...envelope, closings });
  expect(decodeAnswers(closed).decisions).toEqual([{ id: "adk-c1", confirmed: true }]);
});

test("a request without an id is malformed", () => {
  const event = encodeAdkRsEvent({ ...envelope, asks: [ask] });
  const [part] = event.content?.parts ?? [];
  const { id: _, ...nameless } = {
    response: {},
    name: "adk_request_confirmation",
    ...part?.functionResponse,
  };
  const forged = { ...event, content: { parts: [{ functionResponse: nameless }] } };
  expect(() => decodeAdkRsRequest(forged)).toThrow(expect.objectContaining({ code: "malformed-call" }));
});

test("finished responses and events by the user ask nothing", () => {
  const event = encodeAdkRsEvent({ ...envelope, asks: [ask] });
  expect(decodeAdkRsRequest({ ...event, author: "user" })).toEqual([]);
  const closing = encodeAdkRsEvent({
    ...envelope,
    closings: [{ id: "c", callId: "call-1", confirmed: false }],
  });
  expect(decodeAdkRsRequest({ ...closing, author: "agent" })).toEqual([]);
});
