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
  [TOLD, "Notified ana by email"],
  [{ ...TOLD, isReply: true }, "Notified ana again by email"],
  [ROOM, "Notified a room by email"],
  [{ ...TOLD, state: "sending" }, "Notifying ana by email"],
  [{ ...TOLD, state: "unsure" }, "May have notified ana by email: the answer was lost"],
  [{ ...TOLD, state: "failed" }, "Could not notify ana by email"],
  [{ ...TOLD, state: "failed", reason: "550" }, "Could not notify ana by email: 550"],
])("%o is told in a few words", (told, text) => {
  expect(toldEvent(told).text).toBe(text);
});
