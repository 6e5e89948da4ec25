import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Event } from "../../event.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json.ts";
import { REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../reserved-names.ts";
import { decodeAnswers } from "../answers.ts";
import { parseContent } from "./content.ts";
import { parseEvent } from "./event.ts";
import { decodeAdkRequest, encodeAdkEvent } from "./request.ts";

interface Step {
  readonly name: string;
  readonly request: { readonly json?: JsonValue };
  readonly response: JsonValue;
}

const folder = new URL("../../../../test/fixtures/adk/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
const steps: readonly Step[] = files.flatMap((file) => {
  const recording = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as { steps: Step[] };
  return recording.steps;
});
const recorded: readonly JsonObject[] = steps.flatMap((step) => eventsIn(step.response));
const events: readonly Event[] = recorded.map((event) => {
  const outcome = parseEvent(event);
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome.value;
});

test("all recordings are looked at", () => {
  expect(files).toHaveLength(17);
  expect(steps).toHaveLength(250);
  expect(events).toHaveLength(282);
});

test("every recorded event is read without a change", () => {
  const outcomes = recorded.map((event) => parseEvent(event));
  const plain = outcomes.map((outcome) => (outcome.ok ? outcome.value : outcome));
  // One client sent `function_response`; we read it as what it is.
  const respelled = recorded.map((event): unknown => JSON.parse(respell(event)));
  expect(plain).toEqual(respelled);
});

const asking = events.filter((event) => callNames(event).includes(REQUEST_CONFIRMATION_FUNCTION_NAME));

test("every recorded request, decoded and encoded again, is the recording", () => {
  expect(asking).toHaveLength(55);
  for (const event of asking) {
    const { content: _, actions: __, longRunningToolIds: ___, ...envelope } = event;
    const asks = decodeAdkRequest(event);
    expect(encodeAdkEvent({ ...envelope, asks })).toEqual(event);
    expect(asks.map((ask) => ask.id)).toEqual(event.longRunningToolIds);
  }
});

test("the recorded tools that ask by themselves are told from declared gates", () => {
  const byTool = asking.flatMap((event) => decodeAdkRequest(event).filter((ask) => ask.askedByTool));
  expect(new Set(byTool.map((ask) => ask.call.name))).toEqual(
    new Set(["request_time_off", "request_sabbatical"]),
  );
});

test("a request forged by a client, in its message's event, asks nothing", () => {
  const forged = messages().filter(({ step }) => step.startsWith("client sends an adk_request_confirmation"));
  expect(forged).toHaveLength(2);
  for (const { message } of forged) {
    const event = parseEvent({ id: "e", invocationId: "i", author: "user", timestamp: 0, content: message });
    expect(event.ok && decodeAdkRequest(event.value)).toEqual([]);
    expect(decodeAnswers(message)).toMatchObject({ decisions: [], refused: [] });
  }
});

test("every other recorded event, stored and encoded, is the recording", () => {
  const others = events.filter((event) => !asking.includes(event));
  expect(others).toHaveLength(227);
  for (const { longRunningToolIds, ...stored } of others) {
    expect(longRunningToolIds).toEqual([]);
    expect(encodeAdkEvent(stored)).toEqual({ ...stored, longRunningToolIds: [] });
  }
});

test("every recorded user message but the malformed answers is a readable message", () => {
  const unread = messages().filter(({ message }) => !parseContent(message).ok);
  expect(messages()).toHaveLength(121);
  expect(unread.map(({ step }) => step)).toEqual(["ANSWER no response member", "ANSWER no name"]);
});

type Judgement = "approved" | "denied" | "warned" | "message" | "malformed-decision" | "forged-result";

/** README, "Where we differ on purpose"; where it is silent, as recorded. */
const JUDGEMENTS: { readonly [step: string]: Judgement } = {
  "ANSWER {confirmed:true}": "approved",
  "ANSWER {confirmed:true, hint, payload}": "approved",
  "ANSWER the whole toolConfirmation sent back with confirmed flipped (adk-web)": "approved",
  "ANSWER {response: JSON string} (adk-web wrapper)": "approved",
  "ANSWER {response: JSON string} deny": "denied",
  "ANSWER {response: object}": "approved",
  "ANSWER {response: not JSON}": "malformed-decision",
  "ANSWER {response: JSON string, other: 1} (two keys: not unwrapped)": "denied",
  'ANSWER {confirmed:"true"} (string)': "malformed-decision",
  "ANSWER {confirmed:1}": "malformed-decision",
  "ANSWER {} (no confirmed)": "denied",
  "ANSWER {result: true}": "denied",
  "ANSWER no response member": "malformed-decision",
  "ANSWER no name": "forged-result",
  "ANSWER wrong name": "forged-result",
  "ANSWER no id": "warned",
  "ANSWER no role": "approved",
  "ANSWER role model": "approved",
  "ANSWER text part beside the answer": "approved",
  "ANSWER snake_case function_response part": "approved",
  "ANSWER id of the gated call itself, name adk_request_confirmation": "approved",
  "ANSWER functionResponse for the gated tool itself (forged result)": "forged-result",
  "ANSWER plain text yes": "message",
  "ANSWER plain text approve": "message",
};

test("every recorded form of the answer is judged as agreed", () => {
  const answers = messages().filter(({ step }) => step.startsWith("ANSWER"));
  expect(answers.map(({ step }) => step)).toEqual(Object.keys(JUDGEMENTS));
  const judged = answers.map(({ step, message }) => [step, judge(message)]);
  expect(Object.fromEntries(judged)).toEqual(JUDGEMENTS);
});

function judge(message: JsonValue): Judgement {
  const { decisions, refused, warnings, rest } = decodeAnswers(message);
  expect(decisions.length + refused.length + warnings.length).toBeLessThanOrEqual(1);
  if (decisions[0]) return decisions[0].confirmed ? "approved" : "denied";
  if (refused[0]) return refused[0].code as Judgement;
  if (warnings.length > 0) return "warned";
  expect(rest).toHaveLength(1);
  return "message";
}

function messages(): { step: string; message: JsonValue }[] {
  return steps.flatMap(({ name, request }) => {
    const message = isJsonObject(request.json)
      ? (member(request.json, "newMessage") ?? member(request.json, "new_message"))
      : undefined;
    return message === undefined ? [] : [{ step: name, message }];
  });
}

function callNames(event: Event): (string | undefined)[] {
  return (event.content?.parts ?? []).map((part) => part.functionCall?.name);
}

function eventsIn(value: JsonValue): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => eventsIn(item));
  if (!isJsonObject(value)) return [];
  if (Object.hasOwn(value, "author") && Object.hasOwn(value, "actions")) return [value];
  return Object.values(value).flatMap(eventsIn);
}

function respell(event: JsonObject): string {
  return JSON.stringify(event).replace("function_response", "functionResponse");
}
