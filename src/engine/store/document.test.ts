import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallRecord, ConfirmationRecord, FrameRecord, StepRecord } from "../ledger/index.ts";
import { documentText, readDocumentText, type SessionDocument } from "./document.ts";

const KEY = "01m7hpf55m4caa0d85nkq3ahfm";

/** Mostly what is usual, or what could be taken for it. */
const text = fc.constantFrom("", "a", "ana", "bot", "bank", KEY, `${KEY}.c1`, "~", "=~.c1", "^", "i", "null");
const id = fc.oneof(
  text,
  text.map((rest) => `${KEY}.${rest}`),
  text.map((rest) => `adk-${KEY}${rest}`),
);
const list = fc.array(text, { maxLength: 2 });
const json = fc.jsonValue({ maxDepth: 2 });
const count = fc.constantFrom(0, 1, 2);

const frame = fc.record({
  id,
  session: text,
  app: text,
  invocation: text,
  kind: fc.constant("llm" as const),
  agent: text,
  path: list,
  cursor: fc.option(json),
  status: fc.constantFrom("done" as const, "waiting" as const),
  turn: count,
  calls: fc.array(id, { maxLength: 2 }),
  open: count,
});
const frames = fc.tuple(
  frame,
  fc.record({ owner: text, parentFrame: id, parentCall: id, requesters: list }, { requiredKeys: [] }),
);

const call = fc.record({
  id: text.map((rest) => `${KEY}.${rest}`),
  session: text,
  app: text,
  turn: count,
  ord: count,
  wireId: text,
  agent: text,
  tool: text,
  args: fc.dictionary(text, json, { maxKeys: 2 }),
  unparsed: fc.boolean(),
  argsDigest: text,
  definitionDigest: text,
  secrets: list,
  repeatable: fc.boolean(),
  status: fc.constantFrom("succeeded" as const, "waiting" as const),
  attempt: count,
  rounds: count,
  refused: fc.boolean(),
});
const calls = fc.tuple(
  call,
  fc.record(
    { frame: id, requesters: list, confirmation: id, result: json, lost: count },
    { requiredKeys: [] },
  ),
);

const vote = fc.tuple(
  fc.record({
    confirmed: fc.boolean(),
    by: fc.record({
      id: text,
      kind: fc.constant("local" as const),
      roles: list,
      scopes: list,
      authenticated: fc.boolean(),
    }),
    person: text,
    via: text,
    at: count,
  }),
  fc.record(
    { reason: text, mac: text, args: fc.dictionary(text, json, { maxKeys: 1 }) },
    { requiredKeys: [] },
  ),
);
const confirmation = fc.record({
  id,
  call: id,
  round: count,
  session: text,
  app: text,
  agent: text,
  path: list,
  user: text,
  tool: text,
  requesters: list,
  requirements: fc.constant([]),
  invocation: text,
  argsDigest: text,
  shown: fc.record({ hint: text, why: list }),
  shownVersion: count,
  status: fc.constantFrom("approved" as const, "requested" as const),
  requestedAt: count,
  votes: fc.array(
    vote.map(([all, some]) => ({ ...all, ...some })),
    { maxLength: 2 },
  ),
});
const confirmations = fc.tuple(
  confirmation,
  fc.record({ expiresAt: count, mac: text }, { requiredKeys: [] }),
);
const step = fc.record({
  call: id,
  kind: fc.constant("step" as const),
  name: text,
  occurrence: count,
  status: fc.constant("done" as const),
  value: json,
});

function rows<Row>(one: fc.Arbitrary<[object, object]>): fc.Arbitrary<Row[]> {
  return fc.array(
    one.map(([all, some]) => ({ ...all, ...some }) as Row),
    { maxLength: 3 },
  );
}

const HEAD = {
  app: "bank",
  user: "ana",
  id: "s1",
  nextSeq: 3,
  open: 1,
  ready: 0,
  bytes: 700,
  chain: { n: 2, hash: "0-abc" },
  createdAt: 1,
  updatedAt: 2,
};

const document: fc.Arbitrary<SessionDocument> = fc.record({
  head: fc.constant(HEAD),
  frames: rows<FrameRecord>(frames),
  calls: rows<CallRecord>(calls),
  confirmations: rows<ConfirmationRecord>(confirmations),
  steps: fc.array(step as fc.Arbitrary<StepRecord>, { maxLength: 2 }),
});

test("what is read from a text is the document that it was made from", () => {
  fc.assert(
    fc.property(document, (given) => {
      const stored = JSON.parse(JSON.stringify(given)) as SessionDocument;
      expect(readDocumentText(KEY, HEAD, documentText(KEY, given))).toEqual(stored);
    }),
    { numRuns: 60 },
  );
});

test("a row that was written before is written again where what it left out is no longer beside it", () => {
  const working = {
    id: `${KEY}.f1`,
    session: KEY,
    app: "bank",
    agent: "bot",
    path: ["bot"],
    invocation: "e-1",
  };
  const shared = { session: KEY, app: "bank", agent: "bot" };
  const one = { ...shared, id: `${KEY}.c1`, frame: working.id, wireId: "c1" };
  const asked = { ...shared, id: `adk-${KEY}1`, call: one.id, path: ["bot"], invocation: "e-1", votes: [] };
  const before = { head: HEAD, frames: [working], calls: [one], confirmations: [asked], steps: [] };
  const moved = { ...working, agent: "other", path: ["other"], invocation: "e-2" };
  for (const change of [{}, { frames: [moved] }, { frames: [] }, { calls: [] }, {}]) {
    const after = { ...before, ...change } as unknown as SessionDocument;
    const read = readDocumentText(KEY, HEAD, documentText(KEY, after));
    expect(read.calls).toMatchObject(after.calls);
    expect(read.confirmations).toMatchObject(after.confirmations);
  }
});

test("a member that nobody knew of when this was written is kept", () => {
  const ours = { id: `${KEY}.c1`, frame: `${KEY}.f1`, mood: "good", also: { id: `${KEY}.c1` } };
  const given = { head: HEAD, frames: [], calls: [ours], confirmations: [], steps: [] };
  const read = readDocumentText(KEY, HEAD, documentText(KEY, given as unknown as SessionDocument));
  expect(read.calls).toMatchObject([ours]);
});

test("the session's name and key, and what follows from the frame, are not in the text", () => {
  const working = {
    id: `${KEY}.f1`,
    session: KEY,
    app: "bank",
    agent: "bot",
    path: ["bot"],
    invocation: "e-1",
  };
  const ours = { id: `${KEY}.c1`, session: KEY, app: "bank", frame: `${KEY}.f1`, wireId: "c1", agent: "bot" };
  const question = {
    id: `adk-${KEY}1`,
    session: KEY,
    app: "bank",
    user: "ana",
    call: `${KEY}.c1`,
    agent: "bot",
    path: ["bot"],
    invocation: "e-1",
    requesters: ["ana"],
    argsDigest: "digest",
    votes: [],
  };
  const given = { head: HEAD, frames: [working], calls: [ours], confirmations: [question], steps: [] };
  const { head: _head, ...stored } = JSON.parse(
    documentText(KEY, given as unknown as SessionDocument),
  ) as Record<string, unknown>;
  expect(stored).toEqual({
    frames: [{ i: "~.f1", a: "bot", v: "e-1" }],
    calls: [{ i: "~.c1", f: "~.f1" }],
    // What a person saw stands by itself.
    confirmations: [{ i: "^1", c: "~.c1", d: "digest", V: [] }],
  });
});
