import { expect, test } from "vitest";
import type { Statistics } from "../../src/engine/index.ts";
import { countedIn, makeHistory, recount } from "../model/statistics.ts";
import { makeFolder } from "../support/processes/command-line.ts";

test("stats prints the numbers that the journal's records add up to, in the words of the API", async () => {
  const folder = makeFolder();
  const counted = await folder.withEngine(async (engine) => {
    await makeHistory(engine);
    return recount(engine);
  });
  expect(countedIn(folder.json(["stats", "--days", "2"]) as Statistics)).toEqual(counted);
  const { asked, approved, amended, denied, expired, cancelled, unknown } = counted.total;
  const { stdout } = folder.run(["stats", "--days", "2"]);
  expect(stdout.replace(/\s+/g, " ")).toContain(
    `Asked: ${asked}. Approved: ${approved} (${amended} with changes). Denied: ${denied}. Expired: ${expired}. ` +
      `Cancelled: ${cancelled}. Unknown: ${unknown}.`,
  );
});
