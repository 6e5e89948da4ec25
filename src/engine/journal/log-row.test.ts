import { expect, test } from "vitest";
import type { LogRow } from "../ledger/index.ts";
import { eventsOf, recordsOf, rowBody } from "./log-row.ts";

const KEY = "01m7hpf55m4caa0d85nkq3ahfm";
const AT = 1_800_000_000_000;

function row(session: string, records: readonly unknown[], events: readonly unknown[]): LogRow {
  const [told, said] = [records, events].map((all) => all.map((each) => JSON.stringify(each)));
  const body = rowBody(session, told ?? [], said ?? []);
  const kinds = records.map(() => "run-cancelled");
  return { seq: 1, session, n: 1, at: AT, kinds, digest: "d", hash: "h", events: events.length, body };
}

const ODD = ["", KEY, `${KEY}${KEY}`, `adk-${KEY}x`, "\u0001", "\\u0001", "\u0000", `"${KEY}\\`, "é"];

test.each([KEY, "s", ""])(
  "records and events are read as they were given, in a session called %j",
  (session) => {
    const records = ODD.map((call) => ({ call, [call]: 1 }));
    const events = ODD.map((id) => ({ id, timestamp: 5, content: { role: "user", parts: [{ text: id }] } }));
    const read = row(session, records, events);
    expect(recordsOf(read).map(({ body }) => body)).toEqual(records);
    expect(eventsOf(read)).toEqual(events);
  },
);

test("a body does not repeat the key of its session, nor the time of its line", () => {
  const read = row(KEY, [], [{ id: `adk-${KEY}1` }]);
  expect(read.body).not.toContain(KEY);
  expect(eventsOf(read)).toEqual([{ id: `adk-${KEY}1`, timestamp: AT }]);
});

test("an event that was given no id has the same one wherever it is read, and no other event has it", () => {
  const read = row(KEY, [], [{}, {}]);
  const others = [
    { ...read, session: "other" },
    { ...read, n: 2 },
    { ...read, at: AT + 1 },
  ];
  const ids = [read, ...others].flatMap((each) => eventsOf(each).map(({ id }) => id));
  expect(new Set(ids).size).toBe(8);
  expect(eventsOf(read).map(({ id }) => id)).toEqual(ids.slice(0, 2));
});

test("an event that does not say who speaks has whoever spoke before it", () => {
  const said = [{ author: "a", invocationId: "1" }, {}, { author: "b", invocationId: "2" }, { author: "a" }];
  const speakers = eventsOf(row(KEY, [], said)).map(({ author, invocationId }) => [author, invocationId]);
  expect(speakers).toEqual([
    ["a", "1"],
    ["a", "1"],
    ["b", "2"],
    ["a", "2"],
  ]);
});

const ASK = { id: "q1", call: { id: "c1", name: "pay", args: { amount: 5 } }, hint: "Pay 5?" };
const RECORD = { confirmation: "q1", call: `${KEY}.c1`, tool: "pay", args: { amount: 5 }, hint: "Pay 5?" };

test("what a question has in common with its record is read from there", () => {
  const other = { ...ASK, id: "q2" };
  const asks = [other, { id: "q1", payload: 1 }];
  const read = row(KEY, [{ confirmation: "q0" }, RECORD], [{ id: "e1", asks }]);
  expect(eventsOf(read)[0]?.asks).toEqual([other, { ...ASK, payload: 1 }]);
});

test.each([[5], [[null]], [[{ id: "q9" }]], [[{ id: "q1", call: 1 }]], [["q1"]], [{ id: "q1" }]])(
  "questions that somebody wrote into the database are read as they are: %j",
  (asks) => {
    expect(eventsOf(row(KEY, [null, 5, RECORD], [{ id: "e1", asks }, null]))[0]?.asks).toEqual(asks);
  },
);
