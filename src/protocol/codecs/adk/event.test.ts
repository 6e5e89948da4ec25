import fc from "fast-check";
import { expect, test } from "vitest";
import { parseEvent } from "./event.ts";

const envelope = { id: "e1", invocationId: "i1", author: "agent", timestamp: 5 };

test("an event is read in snake_case as in camelCase, and its state is not touched", () => {
  const snake = {
    id: "e1",
    invocation_id: "i1",
    author: "agent",
    timestamp: 5,
    turn_complete: true,
    long_running_tool_ids: ["a"],
    custom_metadata: { some_key: 1 },
    content: { parts: [{ function_call: { name: "x" } }] },
    actions: {
      state_delta: { some_key: { other_key: 1 } },
      skip_summarization: true,
      requested_tool_confirmations: { call_1: { hint: "h", confirmed: false, payload: { some_key: 1 } } },
    },
  };
  expect(parseEvent(snake)).toEqual({
    ok: true,
    value: {
      ...envelope,
      turnComplete: true,
      longRunningToolIds: ["a"],
      customMetadata: { some_key: 1 },
      content: { parts: [{ functionCall: { name: "x", args: {} } }] },
      actions: {
        stateDelta: { some_key: { other_key: 1 } },
        skipSummarization: true,
        requestedToolConfirmations: { call_1: { hint: "h", confirmed: false, payload: { some_key: 1 } } },
      },
    },
  });
});

test("absent actions are none; null members of Python are absent; unknown ones stay", () => {
  const outcome = parseEvent({
    ...envelope,
    branch: null,
    content: null,
    longRunningToolIds: null,
    new_thing: null,
  });
  expect(outcome).toEqual({ ok: true, value: { ...envelope, actions: {}, new_thing: null } });
});

test.each(["id", "invocationId", "author", "timestamp"])("an event without %s is refused", (name) => {
  const { [name]: _, ...others } = { ...envelope } as Record<string, unknown>;
  expect(parseEvent(others)).toMatchObject({ ok: false, code: "malformed-request", path: name });
});

test.each<[string, object, string]>([
  ["long-running ids that are no texts", { longRunningToolIds: [1] }, "longRunningToolIds"],
  ["actions that are a list", { actions: [] }, "actions"],
  ["a part that cannot be read", { content: { parts: [1] } }, "content.parts[0]"],
  [
    "a confirmation whose verdict is a text",
    { actions: { requestedToolConfirmations: { c: { confirmed: "true" } } } },
    "actions.requestedToolConfirmations.c.confirmed",
  ],
  [
    "a confirmation without a verdict",
    { actions: { requestedToolConfirmations: { c: { hint: "h" } } } },
    "actions.requestedToolConfirmations.c.confirmed",
  ],
])("%s are refused with their place", (_, members, path) => {
  expect(parseEvent({ ...envelope, ...members })).toMatchObject({ ok: false, path });
});

test("no value makes it throw", () => {
  const events = fc
    .record({ actions: fc.anything(), content: fc.anything() })
    .map((event) => ({ ...envelope, ...event }));
  fc.assert(
    fc.property(fc.oneof(fc.anything(), events), (value) => typeof parseEvent(value).ok === "boolean"),
  );
});
