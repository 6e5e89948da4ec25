import type { ToldPerson } from "countersign/client";
import { expect, test } from "vitest";
import { toldEvent } from "./told-events.ts";

const TOLD: ToldPerson = {
  channel: "email",
  person: "ana",
  state: "sent",
  at: "2026-01-01T00:00:00.000Z",
  isReply: false,
};
const { person: _person, ...ROOM } = TOLD;

test.each<[ToldPerson, string]>([
  [TOLD, "Told ana by email"],
  [{ ...TOLD, isReply: true }, "Told ana again by email"],
  [ROOM, "Told a room by email"],
  [{ ...TOLD, state: "sending" }, "Telling ana by email"],
  [{ ...TOLD, state: "unsure" }, "Perhaps told ana by email: the answer was lost"],
  [{ ...TOLD, state: "failed" }, "Could not tell ana by email"],
  [{ ...TOLD, state: "failed", reason: "550" }, "Could not tell ana by email: 550"],
])("%o is told in a few words", (told, text) => {
  expect(toldEvent(told).text).toBe(text);
});
