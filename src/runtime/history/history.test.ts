import { expect, test } from "vitest";
import type { Content, Part, StoredEvent } from "../../protocol/index.ts";
import { Conversation, isolatedBranch, isVisible } from "./history.ts";

function event(author: string, parts: readonly Part[], more: Partial<StoredEvent> = {}): StoredEvent {
  const role = author === "user" ? "user" : "model";
  return { id: "e", timestamp: 0, invocationId: "i", author, content: { role, parts }, ...more };
}

function contentsFor(agent: string, events: readonly StoredEvent[], branch?: string): readonly Content[] {
  const conversation = new Conversation({ agent, ...(branch === undefined ? {} : { branch }) });
  for (const each of events) conversation.add(each);
  return conversation.contents(() => ({ status: "pending" }));
}

test.each([
  [undefined, undefined, true],
  [undefined, "both.left", true],
  ["both.left", undefined, true],
  ["both.left", "both.left", true],
  ["both.left", "both.right", false],
  ["both.left", "both.leftover", false],
  ["both.left", "both.left.more.deep", true],
  ["both.left.more.deep", "both.left", true],
  [undefined, "~c1", false],
  ["~c1", undefined, false],
  ["~c1", "~c1", true],
  ["~c1", "~c2", false],
  ["~c1", "~c1.both.left", true],
  ["~c1.both.left", "~c1", true],
  ["~c1.both.left", "~c1.both.right", false],
])("an agent in branch %j sees an event of branch %j: %s", (branch, other, expected) => {
  const told = event("a", [], other === undefined ? {} : { branch: other });
  expect(isVisible(told, branch)).toBe(expected);
});

test("a nested run's branch is its own, whatever characters the call's id has", () => {
  expect(isVisible(event("a", [], { branch: isolatedBranch("c.1") }), isolatedBranch("c"))).toBe(false);
});

function answerOf(id: string, name: string): Part {
  return { functionResponse: { id, name, response: { id } } };
}

test("answers come right after their calls, in order, wherever they were written", () => {
  const one: Part = { functionCall: { id: "1", name: "x", args: {} } };
  const two: Part = { functionCall: { id: "2", name: "y", args: {} } };
  const events = [
    event("user", [{ text: "go" }]),
    event("a", [one, two]),
    event("a", [answerOf("2", "y")]),
    event("user", [{ text: "well?" }]),
    event("a", [answerOf("1", "x")]),
  ];
  expect(contentsFor("a", events)).toEqual([
    { role: "user", parts: [{ text: "go" }] },
    { role: "model", parts: [one, two] },
    { role: "user", parts: [answerOf("1", "x"), answerOf("2", "y")] },
    { role: "user", parts: [{ text: "well?" }] },
  ]);
});

test("a message of nothing, a partial one and a thought of another agent are not told", () => {
  const events = [
    event("a", []),
    event("a", [{ text: "Hel" }], { partial: true }),
    event("b", [{ text: "hm", thought: true }]),
    event("user", [{ text: "go" }]),
  ];
  expect(contentsFor("a", events)).toEqual([{ role: "user", parts: [{ text: "go" }] }]);
});

test("confirmation traffic of another server, in an imported conversation, is not told", () => {
  const request: Part = { functionCall: { id: "r", name: "adk_request_confirmation", args: {} } };
  const answer: Part = {
    functionResponse: { id: "r", name: "adk_request_confirmation", response: { confirmed: true } },
  };
  expect(contentsFor("a", [event("a", [request]), event("user", [answer, { text: "go" }])])).toEqual([
    { role: "user", parts: [{ text: "go" }] },
  ]);
});

function call(id: string): Part {
  return { functionCall: { id, name: "x", args: {} } };
}

test("a conversation that goes on is the one that is read from its start", () => {
  const events = [
    event("user", [{ text: "go" }]),
    event("a", [call("1")]),
    event("a", [answerOf("1", "x")]),
    event("a", [call("2"), call("3")]),
    event("a", [answerOf("3", "x")]),
    event("user", [{ text: "well?" }]),
    event("b", [call("4")]),
    event("a", [answerOf("2", "x")]),
    event("b", [answerOf("4", "x")]),
    event("a", [{ text: "done" }]),
  ];
  const goingOn = new Conversation({ agent: "a" });
  for (const [at, each] of events.entries()) {
    expect(goingOn.add(each)).toBe(true);
    expect(goingOn.contents(() => ({ status: "pending" }))).toEqual(
      contentsFor("a", events.slice(0, at + 1)),
    );
  }
});

test("a second answer to a call that is told already cannot be added", () => {
  const conversation = new Conversation({ agent: "a" });
  conversation.add(event("a", [call("1")]));
  conversation.add(event("a", [answerOf("1", "x")]));
  conversation.contents(() => ({}));
  expect(conversation.add(event("a", [answerOf("1", "x")]))).toBe(false);
});

test("what a hook changes in one step's contents is not in the next step's", () => {
  const conversation = new Conversation({ agent: "a" });
  conversation.add(event("user", [{ text: "go" }]));
  const [told] = conversation.contents(() => ({})) as [{ role: string; parts: Part[] }];
  told.parts.push({ text: "balance now: 40" });
  told.role = "model";
  expect(conversation.contents(() => ({}))).toEqual([{ role: "user", parts: [{ text: "go" }] }]);
});
