import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { delegatedVotesHold } from "../../../test/model/delegated-votes.ts";
import { escalationsHold } from "../../../test/model/escalated-votes.ts";
import { votesHold } from "../../../test/model/votes.ts";
import { createDatabase, DatabaseClock } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";

const resources = useResources();

test("whatever people do, a call starts only with enough approvals of different persons, and once", async () => {
  expect(await votesHold({ url: await createDatabase(resources), numRuns: 20 })).toBe(20);
});

test("whatever people do, delegate and revoke, only different persons approve, by delegations that stand", async () => {
  expect(await delegatedVotesHold({ url: await createDatabase(resources), numRuns: 25 })).toBeGreaterThan(0);
});

describe("with a database's clock that the test moves on", () => {
  // This process carries the database's time forward by its own, which must stand still too.
  beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterAll(() => void vi.useRealTimers());

  test("whenever people vote, those may who are named or whom an escalation names by then, and a worker tells of each once", async () => {
    const database = new DatabaseClock();
    const url = await createDatabase(resources, database);
    const advance = (ms: number): Promise<void> => database.advance(ms);
    expect(await escalationsHold({ url, numRuns: 20, advance })).toBeGreaterThan(0);
  }, 240_000);
});
