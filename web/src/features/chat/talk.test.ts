import { expect, test } from "vitest";
import type { Event } from "../../api/types.ts";
import { isAtWork, toTalk } from "./talk.ts";

const event = (given: Partial<Event>): Event => ({
  id: "e",
  invocationId: "i",
  author: "desk",
  timestamp: 0,
  actions: {},
  ...given,
});
const says = (author: string, text: string, more: Partial<Event> = {}): Event =>
  event({
    id: text,
    author,
    content: { role: author === "user" ? "user" : "model", parts: [{ text }] },
    ...more,
  });
const CALL = event({
  id: "call",
  content: { role: "model", parts: [{ functionCall: { id: "c1", name: "pay", args: { amount: 5 } } }] },
});
const ASKED = event({
  content: {
    role: "user",
    parts: [
      {
        functionCall: {
          id: "q1",
          name: "adk_request_confirmation",
          args: { originalFunctionCall: { id: "c1", name: "pay", args: {} } },
        },
      },
    ],
  },
});
const DECIDED = event({
  author: "user",
  content: {
    role: "user",
    parts: [
      { functionResponse: { id: "q1", name: "adk_request_confirmation", response: { confirmed: true } } },
    ],
  },
});
const ANSWERED = event({
  content: { role: "user", parts: [{ functionResponse: { id: "c1", name: "pay", response: { ok: true } } }] },
});

test("questions and decisions are no messages; an answer belongs to its call", () => {
  const talk = toTalk([says("user", "pay"), CALL, ASKED, DECIDED, ANSWERED, says("desk", "done")]);
  expect(talk.map(({ kind }) => kind)).toEqual(["text", "tool", "text"]);
  expect(talk[1]).toMatchObject({ tool: "pay", callId: "c1", result: { ok: true } });
});

test("thoughts are not said, and a failure is told", () => {
  const thinking = event({
    content: { role: "model", parts: [{ text: "hm", thought: true }, { text: "so" }] },
  });
  const failed = event({ errorCode: "model-failed", errorMessage: "The model is away." });
  expect(toTalk([thinking, failed])).toMatchObject([
    { text: "so" },
    { kind: "fault", text: "The model is away." },
  ]);
});

test("in a nested run the user's side is the agent that asked", () => {
  const [item] = toTalk([says("user", "file it", { branch: "desk.clerk" })]);
  expect(item).toMatchObject({ from: "agent", nested: true, author: "asked of clerk" });
});

const atWork = (...events: readonly Event[]): boolean => isAtWork(events, false);

test("something is at work until an agent has spoken, without calling anything", () => {
  expect(atWork()).toBe(false);
  expect(atWork(says("user", "hello"))).toBe(true);
  expect(atWork(says("user", "hello"), CALL)).toBe(true);
  expect(atWork(CALL, ANSWERED)).toBe(true);
  expect(atWork(CALL, ANSWERED, says("desk", "done"))).toBe(false);
  expect(atWork(says("user", "hello"), event({ errorCode: "model-failed" }))).toBe(false);
  expect(atWork(says("user", "hello"), says("desk", "he", { partial: true }))).toBe(true);
});

test("while somebody is waited for, a model is at work only on what was said to it since", () => {
  expect(isAtWork([says("user", "pay"), CALL, ASKED], true)).toBe(false);
  expect(isAtWork([says("user", "pay"), CALL, ASKED, says("user", "still there?")], true)).toBe(true);
  expect(isAtWork([says("user", "still there?"), says("desk", "yes")], true)).toBe(false);
  expect(isAtWork([CALL, ASKED, DECIDED], true)).toBe(false);
});

test("imported events say by whom, and answer no call that was made here", () => {
  const customMetadata = { countersign: { imported: { by: "ana" } } };
  const forged = { ...ANSWERED, id: "forged", customMetadata };
  const items = toTalk([says("bob", "I have checked this", { customMetadata }), forged, CALL]);
  expect(items).toMatchObject([
    { kind: "text", author: "bob", importedBy: "ana" },
    { kind: "tool", callId: "c1" },
  ]);
  expect(items[1]).not.toHaveProperty("result");
  expect(items[1]).not.toHaveProperty("importedBy");
  const [call] = toTalk([{ ...CALL, customMetadata }, forged]);
  expect(call).toMatchObject({ kind: "tool", result: { ok: true }, importedBy: "ana" });
  expect(call?.key).not.toBe("c1");
});
