import { expect, test } from "vitest";
import type { JsonValue } from "../../protocol/index.ts";
import type { Draft } from "../ledger/index.ts";
import type { JournalEntry } from "./bodies.ts";
import { parseEntry } from "./parse-entry.ts";
import { entrySubject } from "./read-entry.ts";

const STARTED = { call: "s.c", tool: "pay", attempt: 1, owner: "o", argsDigest: "d" };

function parsed(kind: string, body: unknown): ReturnType<typeof parseEntry> {
  return parseEntry({ kind, body: JSON.parse(JSON.stringify(body)) as JsonValue });
}

test("a record of a known kind is read with its body", () => {
  const entry = parsed("call-started", STARTED);
  expect(entry).toEqual({ state: "readable", kind: "call-started", body: STARTED });
  expect(entrySubject(entry as JournalEntry)).toEqual({ call: "s.c", tool: "pay" });
});

test("an erased record keeps its kind", () => {
  expect(parseEntry({ kind: "call-started", body: null })).toEqual({ state: "erased", kind: "call-started" });
});

test("members that are not known are left alone", () => {
  expect(parsed("call-started", { ...STARTED, later: 1 })).toMatchObject({ state: "readable" });
});

test.each([
  ["an unknown kind", "call-vanished", STARTED, 'unknown kind "call-vanished"'],
  ["a name of the prototype", "constructor", STARTED, 'unknown kind "constructor"'],
  ["a missing member", "call-started", { ...STARTED, owner: undefined }, '"owner" is missing or malformed'],
  [
    "a member of another type",
    "call-started",
    { ...STARTED, attempt: "1" },
    '"attempt" is missing or malformed',
  ],
  [
    "an optional member of another type",
    "call-started",
    { ...STARTED, by: 1 },
    '"by" is missing or malformed',
  ],
  [
    "a status that there is not",
    "calls-answered",
    { calls: [{ call: "c", tool: "t", status: "lost", argsDigest: "d" }] },
    '"calls" is missing or malformed',
  ],
  ["no object", "call-started", [STARTED], "the body is not an object"],
])("%s makes a record unreadable, and says why", (_, kind, body, why) => {
  expect(parsed(kind, body)).toEqual({ state: "unreadable", why });
});

test("a body that is not JSON makes a record unreadable", () => {
  expect(parseEntry({ kind: "call-started", body: "{" })).toMatchObject({ state: "unreadable" });
});

// Compiled, never run: what must not be written does not compile.
export function refusedByTheCompiler(draft: Draft, kind: "call-started" | "run-cancelled"): void {
  // @ts-expect-error: no such kind
  draft.journal("call-vanished", STARTED);
  // @ts-expect-error: `owner` is missing
  draft.journal("call-started", { call: "s.c", tool: "pay", attempt: 1, argsDigest: "d" });
  // @ts-expect-error: `reason` is no member of this kind
  draft.journal("call-started", { ...STARTED, reason: "?" });
  // @ts-expect-error: it fits one of the kinds only
  draft.journal(kind, STARTED);
}
