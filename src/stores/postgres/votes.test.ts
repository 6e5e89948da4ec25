import { expect, test } from "vitest";
import { votesHold } from "../../../test/model/votes.ts";
import { createDatabase } from "../../../test/support/postgres/database.ts";
import { useResources } from "../../../test/support/resources.ts";

const resources = useResources();

test("whatever people do, a call starts only with enough approvals of different persons, and once", async () => {
  expect(await votesHold({ url: await createDatabase(resources), numRuns: 20 })).toBe(20);
});
