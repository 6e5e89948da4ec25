import { describe, expect, test } from "vitest";
import type { Vote } from "../ledger/index.ts";
import type { Requirement } from "../people/index.ts";
import { type AskedOf, questionMac, type VotedOn, voteIsGenuine, voteMac } from "./decision-mac.ts";

const SECRET = "correct horse battery staple";
const SUBJECT: VotedOn = {
  confirmation: {
    id: "adk-1",
    argsDigest: "digest",
    requirements: [{ from: { roles: ["boss"] }, count: 2, group: "bosses" }],
  },
  call: { id: "s.call-1", tool: "pay", definitionDigest: "v1:shown" },
};
const VOTE: Vote = {
  confirmed: true,
  by: { id: "ana", kind: "oidc", roles: [], scopes: [], authenticated: true },
  person: "ana",
  slot: { requirement: 0, place: 1 },
  via: "http",
  at: 1_767_225_600_000,
  payload: { days: 3, note: null },
};
const SIGNED: Vote = { ...VOTE, mac: voteMac(SECRET, SUBJECT, VOTE) };

test("a signed vote is genuine, and says so after a trip through the store", () => {
  expect(voteIsGenuine(SECRET, SUBJECT, SIGNED)).toBe(true);
  expect(voteIsGenuine(SECRET, SUBJECT, JSON.parse(JSON.stringify(SIGNED)) as Vote)).toBe(true);
  expect(voteIsGenuine(SECRET, SUBJECT, { ...SIGNED, payload: { note: null, days: 3 } })).toBe(true);
});

describe("is not genuine", () => {
  test.each<[string, Partial<Vote>]>([
    ["the other verdict", { confirmed: false }],
    ["another approver", { by: { ...VOTE.by, id: "bob" } }],
    ["another role", { by: { ...VOTE.by, roles: ["boss"] } }],
    ["another person behind the login", { person: "bob" }],
    ["another place", { slot: { requirement: 0, place: 0 } }],
    ["another requirement", { slot: { requirement: 1, place: 1 } }],
    ["another time", { at: VOTE.at + 1 }],
    ["another payload", { payload: { days: 4, note: null } }],
    ["an empty payload for a full one", { payload: {} }],
    ["another signature", { mac: voteMac("another secret", SUBJECT, VOTE) }],
    ["an empty signature", { mac: "" }],
    ["a signature cut short", { mac: (SIGNED.mac ?? "").slice(0, -1) }],
    ["a signature made longer", { mac: `${SIGNED.mac}=` }],
  ])("%s", (_, forged) => {
    expect(voteIsGenuine(SECRET, SUBJECT, { ...SIGNED, ...forged })).toBe(false);
  });

  test("a vote without a signature, and one that lost its payload", () => {
    expect(voteIsGenuine(SECRET, SUBJECT, VOTE)).toBe(false);
    const { payload: _, ...rest } = SIGNED;
    expect(voteIsGenuine(SECRET, SUBJECT, rest)).toBe(false);
  });

  test.each<[string, VotedOn]>([
    ["another question", { ...SUBJECT, confirmation: { ...SUBJECT.confirmation, id: "adk-2" } }],
    ["other arguments", { ...SUBJECT, confirmation: { ...SUBJECT.confirmation, argsDigest: "other" } }],
    [
      "a lower count",
      {
        ...SUBJECT,
        confirmation: {
          ...SUBJECT.confirmation,
          requirements: [{ from: { roles: ["boss"] }, count: 1, group: "bosses" }],
        },
      },
    ],
    [
      "other people",
      {
        ...SUBJECT,
        confirmation: {
          ...SUBJECT.confirmation,
          requirements: [{ from: { roles: ["staff"] }, count: 2, group: "bosses" }],
        },
      },
    ],
    [
      "another group",
      {
        ...SUBJECT,
        confirmation: {
          ...SUBJECT.confirmation,
          requirements: [{ from: { roles: ["boss"] }, count: 2, group: "staff" }],
        },
      },
    ],
    ["another call", { ...SUBJECT, call: { ...SUBJECT.call, id: "s.call-2" } }],
    ["another tool", { ...SUBJECT, call: { ...SUBJECT.call, tool: "wipe" } }],
    ["another definition", { ...SUBJECT, call: { ...SUBJECT.call, definitionDigest: "v1:other" } }],
  ])("moved to %s", (_, subject) => {
    expect(voteIsGenuine(SECRET, subject, SIGNED)).toBe(false);
  });
});

test("no payload and a payload of null are signed apart", () => {
  const { payload: _, ...bare } = VOTE;
  expect(voteMac(SECRET, SUBJECT, bare)).not.toBe(voteMac(SECRET, SUBJECT, { ...bare, payload: null }));
});

const ASKED: AskedOf = {
  id: "adk-1",
  call: "s.call-1",
  session: "s",
  app: "shop",
  agent: "clerk",
  path: ["clerk"],
  user: "rita",
  tool: "pay",
  invocation: "i",
  round: 0,
  requesters: ["rita"],
  requirements: [
    { from: { roles: ["boss"], notRequester: true }, count: 2, group: "bosses" },
    { from: { users: ["leo"] }, count: 1 },
  ],
  shown: { hint: "Pay?", why: [] },
  requestedAt: 1_767_225_600_000,
  expiresAt: 1_767_225_700_000,
  denials: 2,
  escalations: [{ at: 1_767_225_650_000, to: { users: ["cfo"] }, fills: [0], reached: false }],
  grants: { forMs: 1_000, count: 2, sum: { amount: 5 } },
  askedBy: ["policy: pay"],
};
const [BOSSES, LEGAL] = ASKED.requirements as [Requirement, Requirement];
const [STEP] = ASKED.escalations as [NonNullable<AskedOf["escalations"]>[number]];

test.each<[string, Partial<AskedOf>]>([
  ["another id", { id: "adk-2" }],
  ["another call", { call: "s.call-2" }],
  ["another tool", { tool: "wipe" }],
  ["another round", { round: 1 }],
  ["other requesters", { requesters: ["zoe"] }],
  ["a lower count", { requirements: [{ ...BOSSES, count: 1 }, LEGAL] }],
  ["a requirement less", { requirements: [BOSSES] }],
  ["the requester let in", { requirements: [{ ...BOSSES, from: { roles: ["boss"] } }, LEGAL] }],
  ["another group", { requirements: [{ ...BOSSES, group: "staff" }, LEGAL] }],
  ["another time", { requestedAt: 0 }],
  ["another deadline", { expiresAt: 9_999_999_999_999 }],
  ["more denials", { denials: 3 }],
  ["an earlier escalation", { escalations: [{ ...STEP, at: 0 }] }],
  ["an escalation to others", { escalations: [{ ...STEP, to: { users: ["rita"] } }] }],
  ["an escalation for more", { escalations: [{ ...STEP, fills: [0, 1] }] }],
  ["wider grants", { grants: { forMs: 1_000, count: 9, sum: { amount: 5 } } }],
  ["fewer that ask", { askedBy: [] }],
  ["a link in a mail", { byMail: true }],
])("a question with %s has another signature", (_, forged) => {
  expect(questionMac(SECRET, { ...ASKED, ...forged })).not.toBe(questionMac(SECRET, ASKED));
});
