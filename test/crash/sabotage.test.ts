import { describe, expect, test } from "vitest";
import { useResources } from "../support/resources.ts";
import { codesOfMeeting, codesOfRun, TRIALS } from "./trials.ts";

describe("the checker finds what is wrong with a broken engine", () => {
  const resources = useResources();

  test.each(TRIALS)("$sabotage: $claim", async ({ sabotage, expected, ...trial }) => {
    expect(await codesOfRun({ resources }, trial), "a sound engine").toEqual([]);
    const found = await codesOfRun({ resources }, trial, { sabotage });
    expect(found).toEqual(expect.arrayContaining([...expected]));
  });

  test("a claim that does not exclude others is found as a second run", async () => {
    const sound = await codesOfMeeting({ resources }, { sabotage: "none-but-meet" });
    expect(sound, "a sound engine").toEqual([]);
    expect(await codesOfMeeting({ resources }, { sabotage: "claim-removed" })).toContain("second-run");
  });
});
