import { expect, test } from "vitest";
import { votesHold } from "../../../test/model/votes.ts";

test("whatever people do, a call starts only with enough approvals of different persons, and once", async () => {
  expect(await votesHold({ url: "memory:", numRuns: 60 })).toBe(60);
});
