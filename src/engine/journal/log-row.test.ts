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
