import { join } from "node:path";
import { expect, test } from "vitest";
import { delegatedVotesHold } from "../../../test/model/delegated-votes.ts";
import { escalationsHold } from "../../../test/model/escalated-votes.ts";
import { votesHold } from "../../../test/model/votes.ts";
import { useResources } from "../../../test/support/resources.ts";

const resources = useResources();

async function newLedger(): Promise<string> {
  return `sqlite:${join(await resources.folder(), "ledger.db")}`;
}

test("whatever people do, a call starts only with enough approvals of different persons, and once", async () => {
  expect(await votesHold({ url: await newLedger(), numRuns: 20 })).toBe(20);
});

test("whatever people do, delegate and revoke, only different persons approve, by delegations that stand", async () => {
  expect(await delegatedVotesHold({ url: await newLedger(), numRuns: 25 })).toBeGreaterThan(0);
});

test("whenever people vote, those may who are named or whom an escalation names by then, and a worker tells of each once", async () => {
  expect(await escalationsHold({ url: await newLedger(), numRuns: 15 })).toBeGreaterThan(0);
}, 120_000);
