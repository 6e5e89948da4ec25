import { beforeEach, expect, test } from "vitest";
import type { StoredEvent } from "../../protocol/index.ts";
import { createIds } from "../common/ids.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { chainHasher } from "../journal/chain.ts";
import { Draft } from "../ledger/draft.ts";
import type { SessionRecord } from "../ledger/index.ts";
import type { EngineParts } from "../parts.ts";
import type { AskedCall } from "../questions/ask.ts";
import { SessionCache } from "./session-cache.ts";

const NOW = 1_800_000_000_000;
const parts = {
  clock: new ManualClock(NOW),
  newId: createIds(),
  hasher: chainHasher(undefined),
  knownSeal: { k: 0 },
  ledger: { digestKey: new Uint8Array(32) },
} as unknown as EngineParts;

let cache: SessionCache;
let session: SessionRecord | undefined;

beforeEach(() => {
  cache = new SessionCache();
  session = undefined;
});

/** A commit with one event, as this process or another makes it. */
function commit(text: string): Draft {
  const draft = new Draft(parts, NOW, session ?? { key: "s", create: { app: "a", user: "u", id: "i" } });
  draft.event({ author: "bot", invocationId: "i1", content: { role: "model", parts: [{ text }] } });
  session = draft.sessionAfter;
  return draft;
}

function texts(events: readonly StoredEvent[] | undefined): readonly (string | undefined)[] | undefined {
  return events?.map(({ content }) => content?.parts[0]?.text);
}

function unread(): Promise<never> {
  throw new Error("It was read.");
}

test("a run that rests where this process left it is known from any of its events on", () => {
  for (const text of ["one", "two"]) cache.add(commit(text));
  const last = commit("three");
  cache.add(last);
  cache.restsAt(last, []);
  expect(texts(cache.restAfter(1)?.events)).toEqual(["two", "three"]);
  expect(cache.restAfter(0)?.session).toEqual(session);
  expect(cache.restAfter(3)?.events).toEqual([]);
});

test("a run of which this process did not see the beginning is not known from there", () => {
  commit("elsewhere");
  const last = commit("here");
  cache.add(last);
  cache.restsAt(last, []);
  expect(cache.restAfter(0)).toBeUndefined();
  expect(texts(cache.restAfter(1)?.events)).toEqual(["here"]);
});

test("somebody else's commit in between makes everything before it unknown", () => {
  cache.add(commit("one"));
  commit("elsewhere");
  const last = commit("three");
  cache.add(last);
  cache.restsAt(last, []);
  expect(cache.restAfter(1)).toBeUndefined();
  expect(texts(cache.restAfter(2)?.events)).toEqual(["three"]);
});

test("a run that went on after its rest does not rest", () => {
  const asking = commit("asks");
  cache.add(asking);
  cache.restsAt(asking, [{} as AskedCall]);
  cache.add(commit("goes on"));
  expect(cache.restAfter(0)).toBeUndefined();
});

test("what is handed out is what was stored, whatever becomes of the objects it was made from", () => {
  const spoken = [{ text: "as stored", thought: undefined }];
  const draft = new Draft(parts, NOW, { key: "s", create: { app: "a", user: "u", id: "i" } });
  draft.event({ author: "bot", invocationId: "i1", content: { role: "model", parts: spoken as never } });
  cache.add(draft);
  cache.restsAt(draft, []);
  (spoken[0] as { text: string }).text = "changed since";
  expect(cache.restAfter(0)?.events[0]?.content?.parts).toStrictEqual([{ text: "as stored" }]);
});

test("the history of a session that began here is not read at all", async () => {
  cache.add(commit("one"));
  cache.add(commit("two"));
  expect(texts(await cache.history(unread))).toEqual(["one", "two"]);
});

test("an older history is read once, and then only added to", async () => {
  const earlier = commit("earlier").events;
  const first = commit("one");
  cache.add(first);
  const read = async (): Promise<readonly StoredEvent[]> => [...earlier, ...first.events];
  expect(texts(await cache.history(read))).toEqual(["earlier", "one"]);
  cache.add(commit("two"));
  expect(texts(await cache.history(unread))).toEqual(["earlier", "one", "two"]);
});

test("a history with more in it than was committed here is told, and not kept", async () => {
  const earlier = commit("earlier").events;
  const ours = commit("ours");
  cache.add(ours);
  const others = commit("others").events;
  let reads = 0;
  const read = async (): Promise<readonly StoredEvent[]> => {
    reads += 1;
    return [...earlier, ...ours.events, ...others];
  };
  expect(texts(await cache.history(read))).toEqual(["earlier", "ours", "others"]);
  await cache.history(read);
  expect(reads).toBe(2);
});
