import { expect, test } from "vitest";
import { delegatedVotesHold } from "../../../test/model/delegated-votes.ts";
import { escalationsHold } from "../../../test/model/escalated-votes.ts";
import { votesHold } from "../../../test/model/votes.ts";
import type { Vote } from "../ledger/index.ts";
import { NO_DIRECTORY } from "./directory.ts";
import { tally } from "./tally.ts";

const approval = (id: string, place: number, at: number): Vote => ({
  confirmed: true,
  by: { id, kind: "token", roles: [], scopes: ["decide"], authenticated: true },
  person: id,
  slot: { requirement: 0, place },
  via: "api",
  at,
});

test.each([
  ["before both votes", 5, 1],
  ["between them", 15, 1],
  ["after both", 25, 2],
])(
  "stored approvals of delegator and delegate count as one, if the delegation was made %s",
  (_when, since, counted) => {
    const ballot = {
      requirements: [{ from: { users: ["ana", "bob"] }, count: 2 }],
      requesters: ["rita"],
      votes: [approval("ana", 0, 10), approval("bob", 1, 20)],
    };
    const delegations = [{ id: "d", from: "ana", to: "bob", since, until: 99, version: 1 }];
    const found = tally(ballot, { directory: NO_DIRECTORY, now: 30, delegations });
    expect(found.counted).toHaveLength(counted);
    expect(found.outcome).toBe(counted === 2 ? "approved" : "open");
  },
);

test("stored approvals by two logins of one person, and two in one place, count as one", () => {
  const directory = { ...NO_DIRECTORY, person: (id: string) => id.replace("@work", "") };
  const work = { ...approval("ana@work", 1, 20), person: "ana" };
  for (const second of [work, approval("bob", 0, 20)]) {
    const ballot = {
      requirements: [{ from: { users: ["ana", "ana@work", "bob"] }, count: 2 }],
      requesters: ["rita"],
      votes: [approval("ana", 0, 10), second],
    };
    const found = tally(ballot, { directory, now: 30 });
    expect([found.outcome, found.counted]).toEqual(["open", [ballot.votes[0]]]);
  }
});

test("whatever people do, a call starts only with enough approvals of different persons, and once", async () => {
  expect(await votesHold({ url: "memory:", numRuns: 60 })).toBe(60);
});

test("whatever people do, delegate and revoke, only different persons approve, by delegations that stand", async () => {
  expect(await delegatedVotesHold({ url: "memory:", numRuns: 80 })).toBeGreaterThan(5);
});

test("whenever people vote, those may who are named or whom an escalation names by then, and a worker tells of each once", async () => {
  expect(await escalationsHold({ url: "memory:", numRuns: 40 })).toBeGreaterThan(0);
}, 120_000);
