import type { JsonObject, StoredEvent } from "../../../protocol/index.ts";
import { oneApproval } from "../../people/index.ts";
import { recallResponse, rememberResponse } from "../idempotency.ts";
import type { Ledger } from "../ledger.ts";
import type { CallRecord } from "../records/call-record.ts";
import type { ConfirmationRecord, Shown, Vote } from "../records/confirmation-record.ts";
import type { FrameRecord } from "../records/frame-record.ts";
import type { GrantRecord } from "../records/grant-record.ts";
import { buildRequest, questionId, SessionWriter } from "./build.ts";
import { checkEqual } from "./check.ts";
import type { LedgerCase, LedgerSubject } from "./subject.ts";

const DEPTH = 200;

/** Values that careless storage changes. */
function difficultValues(): JsonObject {
  const text = `{
    "__proto__": {"polluted": true}, "constructor": {"prototype": null}, "": "empty key", "a.b/c~d": 1,
    "unicode": "žluťoučký 🐎 \\u202e\\u0000 e\\u0301", "lone": "\\ud800 and \\udfff",
    "numbers": [1e21, 1e-7, 0.1, 5e-324, 1.7976931348623157e308, 9007199254740991, -1, 0],
    "constants": [null, true, false, "", [], {}], "quotes": "'\\"\`; drop table calls; --",
    "keys": {"2": "b", "1": "a", "z": 0, "A": 0}
  }`;
  let nested: JsonObject = { end: true };
  for (let i = 0; i < DEPTH; i++) nested = { nested };
  return { ...(JSON.parse(text) as JsonObject), nested };
}

// Typed as complete: a new member of a record does not compile here until it is given, and so tested.
const frame: Required<FrameRecord> = {
  id: "s1.f",
  session: "s1",
  app: "bank",
  invocation: "i",
  parentFrame: "pf",
  parentCall: "pc",
  kind: "loop",
  agent: "teller",
  path: ["root", "teller"],
  branch: "root.teller",
  requesters: ["ana", "Ž"],
  asker: { id: "ana", kind: "token", authenticated: true, roles: ["finance"] },
  cursor: difficultValues(),
  status: "stepping",
  turn: 3,
  calls: ["s1.w"],
  open: 1,
  owner: "o",
  output: [difficultValues()],
  lost: 2,
};

const call: Required<CallRecord> = {
  id: "s1.w",
  session: "s1",
  app: "bank",
  frame: "s1.f",
  turn: 3,
  ord: 1,
  wireId: "w",
  agent: "teller",
  tool: "transfer",
  args: difficultValues(),
  originalArgs: difficultValues(),
  unparsed: true,
  requesters: ["robot", "ana"],
  asker: { id: "robot", kind: "token", authenticated: true, roles: ["finance"] },
  permit: "p\u00e9rmit",
  grant: {
    id: "s1.grant-g",
    by: ["ana", "Ž"],
    took: JSON.parse('{"__proto__":"0.1"}') as { [argument: string]: string },
    requirements: oneApproval({ roles: ["boss"] }),
    requesters: ["ana", "Ž"],
    escalations: [{ at: 13, to: { roles: ["cfo"] }, group: "cfo", fills: [0], reached: false }],
  },
  argsDigest: "ad",
  sentDigest: "sd",
  definitionDigest: "dd",
  secrets: ["/a~1b", "/pin"],
  repeatable: true,
  runs: "caller",
  callerTurn: "t\u00fcrn 4",
  status: "executing",
  attempt: 2,
  owner: "o",
  startedAt: 11,
  endedAt: 12,
  confirmation: questionId("s1", "c"),
  rounds: 4,
  refused: true,
  settled: {
    as: "retry",
    by: { id: "boss", kind: "oidc", authenticated: true },
    via: "cli",
    at: 13,
  },
  result: difficultValues(),
  lost: 3,
};

const shown: Required<Shown> = {
  hint: "‮Pay?",
  payload: difficultValues(),
  schema: { type: "object" },
  amendable: ["amount"],
  argsSchema: {},
  why: ["tool", "policy"],
  authorOnly: true,
  startedWith: { hint: "Start?", confirmed: true, payload: difficultValues() },
  startedByTool: true,
  remote: { agent: "desk", task: "task-1", context: "context-1" },
  source: "mcp:bank",
  question: "manager",
  askedByTool: true,
  onDenied: "invoke",
  layout: { hold: true, diff: { before: "old", after: "new" }, display: { note: "code" } },
};

const vote: Required<Vote> = {
  confirmed: true,
  by: {
    id: "boss",
    kind: "oidc",
    roles: ["boss"],
    scopes: ["decide"],
    authenticated: true,
    onBehalfOf: "ana",
  },
  person: "the boss",
  slot: { requirement: 0, place: 0 },
  delegated: { from: "eva", delegation: "delegation-1" },
  via: "slack",
  at: 15,
  reason: "fine",
  payload: difficultValues(),
  args: difficultValues(),
  mac: "mac",
  sentDigest: "sent",
  grant: { forMs: 1, count: 2, sum: { amount: 0.1 } },
};

const confirmation: Required<ConfirmationRecord> = {
  id: questionId("s1", "c"),
  call: "s1.w",
  round: 3,
  session: "s1",
  app: "bank",
  agent: "teller",
  path: ["root", "teller"],
  user: "Ana Ž. 🐎",
  tool: "transfer",
  requesters: ["ana", "bot"],
  requirements: oneApproval({ roles: ["boss"], users: [], notRequester: true }),
  policy: [{ version: "v1", rules: [{ rule: "big", outcome: "confirm", facts: difficultValues() }] }],
  invocation: "i",
  argsDigest: "ad",
  shown,
  shownVersion: 5,
  status: "cancelled",
  requestedAt: 13,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  expiresAt: 14,
  votes: [vote],
  denials: 2,
  grants: { forMs: 3, count: 4, sum: { amount: 500 } },
  askedBy: ["policy: big", "tool"],
  byMail: true,
  notify: ["slack", "email"],
  reminders: [{ at: 13, sent: true }],
  escalations: [{ at: 13, to: { roles: ["cfo"] }, group: "cfo", fills: [0], reached: false }],
  seen: [{ by: { id: "boss", kind: "oidc", authenticated: true }, person: "boss", via: "api", at: 14 }],
  mac: "mac",
  withdrawal: "session deleted",
};

const { reason: _reason, payload: _payload, args: _args, sentDigest: _sent, mac: _mac, ...approval } = vote;
const { grant: _grant, ...approved } = approval;

const grant: Required<GrantRecord> = {
  id: "s1.grant-g",
  session: "s1",
  app: "bank",
  agent: "teller",
  tool: "transfer",
  definitionDigest: "dd",
  confirmation: questionId("s1", "c"),
  requesters: ["ana", "Ž"],
  askedBy: ["policy: big", "tool"],
  requirements: oneApproval({ roles: ["boss"] }),
  escalations: [{ at: 13, to: { roles: ["cfo"] }, group: "cfo", fills: [0], reached: false }],
  approvals: [approved],
  limits: { forMs: 5, count: 6, sum: { amount: 0.3 } },
  mintedAt: 15,
  endsAt: 20,
  uses: 1,
  spent: JSON.parse('{"__proto__":"0.1","amount":"0.2"}') as { [argument: string]: string },
  refunds: 1,
  revision: 2,
  revoked: {
    at: 16,
    reason: "☃",
    by: { id: "boss", kind: "oidc", authenticated: true },
    via: "cli",
  },
  mac: "mac",
};

const event: StoredEvent = {
  id: "e1",
  invocationId: "i",
  author: "teller",
  timestamp: 16,
  branch: "b",
  requesters: ["ana", "Ž"],
  asker: { id: "ana", kind: "token", authenticated: true },
  content: { role: "model", parts: [{ text: "é" }, { futureKind: difficultValues() }] },
  actions: { stateDelta: difficultValues(), unknownAction: [1] },
  partial: false,
  futureMember: difficultValues(),
};

async function writeAll(ledger: Ledger, { clock }: LedgerSubject): Promise<void> {
  const writer = new SessionWriter(ledger, "s1", { user: "Ana Ž. 🐎", id: "id with 'quotes' / and ☃" });
  writer.nextSeq = 2;
  await writer.commit([
    { kind: "event", event },
    { kind: "frame-insert", frame },
    { kind: "call-insert", call },
    { kind: "confirmation-insert", confirmation },
    {
      kind: "step",
      step: {
        call: "s1.w",
        kind: "question",
        name: "é",
        occurrence: 1,
        status: "asked",
        digest: "d",
        value: difficultValues(),
      },
    },
    { kind: "grant", grant },
    { kind: "state", scope: "session", delta: difficultValues() },
    { kind: "state", scope: "app", delta: difficultValues() },
    rememberResponse(buildRequest("k"), difficultValues(), clock.now()),
    writer.journal("noted", { text: "ž 🐎 \u0000" }),
  ]);
}

async function readAll(ledger: Ledger): Promise<unknown[]> {
  return [
    await ledger.load({ confirmation: questionId("s1", "c") }),
    await ledger.events("s1"),
    await ledger.steps("s1.w"),
    await ledger.state("s1"),
    await recallResponse(ledger, buildRequest("k")),
    await ledger.journal.records({ after: 0, limit: 9 }),
  ];
}

export const fidelityCases: readonly LedgerCase[] = [
  {
    name: "every member of every record comes back as it was written",
    async run(subject) {
      const ledger = await subject.open();
      await writeAll(ledger, subject);
      const snapshot = await ledger.load({ call: "s1.w" });
      checkEqual(snapshot?.call, call, "the call");
      checkEqual(snapshot?.confirmation, confirmation, "the confirmation");
      checkEqual(snapshot?.frame, frame, "the frame");
      checkEqual(snapshot?.session.grants, [grant], "the grant");
      checkEqual(await ledger.events("s1"), [event], "the event");
      checkEqual(await ledger.state("s1"), difficultValues(), "state");
      checkEqual(snapshot?.session.id, "id with 'quotes' / and ☃", "the session's id");
      checkEqual(
        await recallResponse(ledger, buildRequest("k")),
        { ok: true, response: difficultValues() },
        "the remembered answer",
      );
      checkEqual((await ledger.steps("s1.w"))[0]?.value, difficultValues(), "the step's value");
      checkEqual(
        (await ledger.journal.sessionRecords("s1", { after: 0, limit: 1 }))[0]?.body,
        { text: "ž 🐎 \u0000" },
        "the body",
      );
      checkEqual("polluted" in {}, false, "did a value reach the prototype");
    },
  },
  {
    name: "the text of stored JSON does not change: keys keep their order",
    async run(subject) {
      const ledger = await subject.open();
      await writeAll(ledger, subject);
      const [found] = await ledger.calls(["s1.w"]);
      checkEqual(JSON.stringify(found?.args), JSON.stringify(difficultValues()), "the arguments");
    },
  },
  {
    name: "a second handle sees everything, under the same digest key",
    needs: "reopen",
    async run(subject) {
      const first = await subject.open();
      await writeAll(first, subject);
      const second = await subject.reopen();
      checkEqual(await readAll(second), await readAll(first), "everything");
      checkEqual([...second.digestKey], [...first.digestKey], "the digest key");
    },
  },
  {
    name: "a ledger that was closed and opened again has lost nothing",
    needs: "reopen",
    async run(subject) {
      const first = await subject.open();
      await writeAll(first, subject);
      const before = await readAll(first);
      await first.close();
      checkEqual(await readAll(await subject.reopen()), before, "everything");
    },
  },
  {
    name: "the digest key has 32 bytes and is another one in every ledger",
    async run({ open }) {
      const one = (await open()).digestKey;
      const other = (await open()).digestKey;
      checkEqual([one.length, other.length], [32, 32], "lengths");
      checkEqual(
        one.every((byte, i) => byte === other[i]),
        false,
        "are they the same",
      );
    },
  },
];
