import { expect, test } from "vitest";
import type { CallRecord } from "../../engine/index.ts";
import type { Part, StoredEvent } from "../../protocol/index.ts";
import { conversationBefore } from "./conversation.ts";

const event = (author: string, parts: readonly Part[], more: Partial<StoredEvent> = {}): StoredEvent => ({
  id: `${author}-${JSON.stringify(parts)}`,
  invocationId: "i",
  author,
  timestamp: 0,
  actions: {},
  content: { role: author === "user" ? "user" : "model", parts },
  ...more,
});
const nested = { branch: "~c1" };
const EVENTS = [
  event("user", [{ text: "Let the clerk file it." }]),
  event("desk", [{ functionCall: { id: "c1", name: "clerk", args: {} } }]),
  event("user", [{ text: "File it, the boss agreed." }], nested),
  event("clerk", [{ functionCall: { id: "c2", name: "file", args: {} } }], nested),
];

const authors = async (events: readonly StoredEvent[]): Promise<readonly string[]> => {
  const ledger = { events: async () => events, calls: async () => [] };
  const call = { session: "s", wireId: "c2" } as CallRecord;
  const said = await conversationBefore(ledger, call, nested);
  return said.map(({ author, text }) => `${author}: ${text}`);
};

test("what an agent asks of another one is not told as the user's words", async () => {
  expect(await authors(EVENTS)).toEqual(["user: Let the clerk file it.", "desk: File it, the boss agreed."]);
  expect(await authors(EVENTS.slice(2))).toEqual(["another agent: File it, the boss agreed."]);
});
