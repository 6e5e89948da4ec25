import { expect, test } from "vitest";
import type { Part, StoredEvent } from "../../protocol/index.ts";
import { readHistory } from "./reading.ts";

let made = 0;

function event(author: string, parts: readonly Part[], more: Partial<StoredEvent> = {}): StoredEvent {
  made += 1;
  return {
    id: `e${made}`,
    timestamp: 0,
    invocationId: "i",
    author,
    content: { role: author, parts },
    ...more,
  };
}

function turn(id: string, response = {}): readonly StoredEvent[] {
  return [
    event("a", [{ functionCall: { id, name: "x", args: {} } }]),
    event("a", [{ functionResponse: { id, name: "x", response } }]),
  ];
}

function history(turns: number): StoredEvent[] {
  return [event("user", [{ text: "go" }]), ...Array.from({ length: turns }, (_, n) => turn(`c${n}`)).flat()];
}

const contentsOf = (events: readonly StoredEvent[]): unknown =>
  readHistory(events).contentsFor({ agent: "a" }, () => ({ status: "pending" }));

// Copies: what is known of the first events is not known of these.
const anew = (events: readonly StoredEvent[]): readonly StoredEvent[] => events.map((each) => ({ ...each }));

test("a long history that grows is told as one that is read at once", () => {
  const events = history(20);
  for (let length = 30; length <= events.length; length += 1) {
    const part = events.slice(0, length);
    expect(contentsOf(part)).toEqual(contentsOf(anew(part)));
    expect(readHistory(part).ids).toEqual(readHistory(anew(part)).ids);
  }
});

test("a shorter, a changed and a second answer are read from the start", () => {
  const events = history(20);
  contentsOf(events);
  const shorter = events.slice(0, 31);
  expect(contentsOf(shorter)).toEqual(contentsOf(anew(shorter)));
  contentsOf(events);
  const other = [
    ...events.slice(0, -1),
    event("a", [{ text: "instead" }]),
    event("user", [{ text: "more" }]),
  ];
  expect(contentsOf(other)).toEqual(contentsOf(anew(other)));
  const again = [...events, ...turn("c3", { second: true }).slice(1)];
  expect(contentsOf(again)).toEqual(contentsOf(anew(again)));
});

test("says which calls are open, which were refused and which ids are taken", () => {
  const events = [
    ...history(1),
    event("a", [{ functionCall: { id: "open", name: "x", args: {} } }]),
    ...turn("failed", { error: "no" }),
    event("user", [], { closings: [{ id: "q", callId: "denied", confirmed: false }] }),
    event("user", [{ functionResponse: { id: "early", name: "x", response: {} } }]),
    event("a", [{ functionCall: { id: "early", name: "x", args: {} } }]),
    event("a", [{ functionCall: { id: "theirs", name: "x", args: {} } }], { imported: { by: "ana" } }),
  ];
  const { used, open, refused } = readHistory(events).ids;
  expect(["c0", "open", "failed", "early", "theirs", "c1", "denied"].filter((id) => used.has(id))).toEqual([
    "c0",
    "open",
    "failed",
    "early",
    "theirs",
  ]);
  expect([...open]).toEqual(["open"]);
  expect([...(refused.get("i") ?? [])]).toEqual(["failed", "denied"]);
});
