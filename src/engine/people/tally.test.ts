import { expect, test } from "vitest";
import { delegatedVotesHold } from "../../../test/model/delegated-votes.ts";
import { escalationsHold } from "../../../test/model/escalated-votes.ts";
import { votesHold } from "../../../test/model/votes.ts";

test("whatever people do, a call starts only with enough approvals of different persons, and once", async () => {
  expect(await votesHold({ url: "memory:", numRuns: 60 })).toBe(60);
});

test("whatever people do, delegate and revoke, only different persons approve, by delegations that stand", async () => {
  expect(await delegatedVotesHold({ url: "memory:", numRuns: 80 })).toBeGreaterThan(5);
});

test("whenever people vote, those may who are named or whom an escalation names by then, and a worker tells of each once", async () => {
  expect(await escalationsHold({ url: "memory:", numRuns: 40 })).toBeGreaterThan(0);
}, 120_000);
