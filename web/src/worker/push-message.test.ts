import { expect, test } from "vitest";
import { readMessage, withoutOne } from "./push-message.ts";

test("a message names the place of its card", () => {
  const text = JSON.stringify({ notice: "msg_1", confirmation: "a/b", is: "requested" });
  expect(readMessage(text)).toEqual({
    is: "requested",
    about: "a/b",
    notice: "msg_1",
    place: "#/confirmations/a%2Fb",
  });
  const call = JSON.stringify({ notice: "msg_2", call: "call-9", is: "unknown" });
  expect(readMessage(call)).toMatchObject({ about: "call-9", place: "#/unknown" });
});

test("a test message is about nothing", () => {
  const text = JSON.stringify({ notice: "test_1", is: "test" });
  expect(readMessage(text)).toEqual({
    is: "test",
    about: "test",
    notice: "test_1",
    place: "#/notifications",
  });
});

test("a digest opens the inbox, and counts what waits", () => {
  const digest = { notice: "d1", is: "digest", count: 30, waiting: ["a", "b"] };
  const message = readMessage(JSON.stringify(digest));
  expect(message).toEqual({
    is: "digest",
    about: "d1",
    notice: "d1",
    place: "#/",
    waiting: { count: 30, ids: ["a", "b"] },
  });
  expect(readMessage(JSON.stringify({ ...digest, waiting: "a" }))).toBeUndefined();
  expect(withoutOne(message, "a")).toEqual({ count: 29, ids: ["b"] });
  expect(withoutOne(message, "c")).toBeUndefined();
  expect(withoutOne(null, "a")).toBeUndefined();
});

test.each(["", "x", "null", "[]", "{}", `{"notice":"m","confirmation":"a","is":"approve"}`, `{"is":"over"}`])(
  "%j is no message",
  (text) => {
    expect(readMessage(text)).toBeUndefined();
  },
);
