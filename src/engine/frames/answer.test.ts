import { expect, test } from "vitest";
import { cancelledAnswer, deniedAnswer, EXPIRED_ANSWER, toResponse } from "./answer.ts";

test("the model is told what became of a call in the words of the wire", () => {
  expect(deniedAnswer()).toEqual({ error: "tool call was rejected by the user" });
  expect(deniedAnswer("too much")).toEqual({
    error: "tool call was rejected by the user",
    reason: "too much",
  });
  expect(EXPIRED_ANSWER).toEqual({ error: "tool call expired before it was approved" });
  expect(cancelledAnswer("off", { attempt: 0 })).toEqual({
    error: "tool call was withdrawn before it ran",
    reason: "off",
  });
  expect(cancelledAnswer("off", { attempt: 1 })).toEqual({
    error: "tool call was withdrawn before it finished; a part of it may have been done",
    reason: "off",
  });
});

test.each([
  [{ ok: true }, { ok: true }],
  ["text", { result: "text" }],
  [[1], { result: [1] }],
  [null, { result: null }],
  [false, { result: false }],
])("a result %j leaves as %j", (result, response) => {
  expect(toResponse(result)).toEqual(response);
});
