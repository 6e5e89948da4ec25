import { describe, expect, test } from "vitest";
import type { FindingCode } from "../crash/checker.ts";
import { codesOfMeeting, codesOfRun, codesOfWaking, TRIALS, type TrialPlace } from "../crash/trials.ts";
import { Resources } from "../support/resources.ts";
import { createBrokenLedger, type FlawName } from "./broken-store.ts";

const SHORT_LEASE_MS = 500;
// Nobody is so slow that it has run out by then.
const LONG_LEASE_MS = 120_000;

/** A run on a ledger of its own, and what is found in the end. */
async function run(
  play: (place: TrialPlace) => Promise<readonly string[]>,
  flaws: readonly FlawName[] = [],
): Promise<readonly string[]> {
  const resources = new Resources();
  try {
    return await play({ resources, ledger: await createBrokenLedger(resources, flaws) });
  } finally {
    await resources.release();
  }
}

const MOST_RUNS = 5;

/** A broken store does harm only if somebody asks too much of it. A process that wakes may first notice that its lease is over. */
async function untilFound(
  code: FindingCode,
  play: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  let codes = await play();
  for (let runs = 1; runs < MOST_RUNS && !codes.includes(code); runs++) codes = await play();
  return codes;
}

/** What happens to the same run on a sound store and on a broken one. */
interface Breakage {
  readonly claim: string;
  readonly flaws: readonly FlawName[];
  readonly play: (place: TrialPlace) => Promise<readonly string[]>;
  readonly expected: FindingCode;
}

const BREAKAGES: readonly Breakage[] = [
  {
    claim: "a claim without compare-and-set is found as a second run",
    flaws: ["version-ignored"],
    play: (place) => codesOfMeeting(place, { sabotage: "none-but-meet" }),
    expected: "second-run",
  },
  {
    claim: "a decision that does not mind what was decided meanwhile is found as a lost decision",
    flaws: ["version-ignored"],
    play: (place) => codesOfMeeting(place, { sabotage: "none-but-meet", quarrel: 1 }),
    expected: "lost-decision",
  },
  {
    claim: "a result that is taken from an attempt that was given up is found as an illegal history",
    flaws: ["version-ignored"],
    play: (place) => codesOfWaking(place, { leaseMs: SHORT_LEASE_MS }),
    expected: "illegal-history",
  },
  {
    claim: "a record that is left out of the journal is found as lost",
    flaws: ["record-left-out"],
    play: (place) => codesOfRun(place, { kind: "approve" }),
    expected: "lost-record",
  },
];

describe("the checker finds what is wrong with a broken store", () => {
  test.each(BREAKAGES)("$claim", async ({ flaws, play, expected }) => {
    // Both at once: they wait more than they work.
    const [sound, broken] = await Promise.all([run(play), untilFound(expected, () => run(play, flaws))]);
    expect(sound, "a sound store").toEqual([]);
    expect(broken).toContain(expected);
  });

  test("a lease that is taken before it ran out is found as an early takeover", async () => {
    const found = await run((place) =>
      codesOfWaking(place, { sabotage: "leases-taken", leaseMs: LONG_LEASE_MS }),
    );
    expect(found).toContain("early-takeover");
  });
});

describe("and, on PostgreSQL too, what is wrong with a broken engine", () => {
  test.each(TRIALS)("$sabotage: $claim", async ({ sabotage, expected, ...trial }) => {
    const [sound, broken] = await Promise.all([
      run((place) => codesOfRun(place, trial)),
      run((place) => codesOfRun(place, trial, { sabotage })),
    ]);
    expect(sound, "a sound engine").toEqual([]);
    expect(broken).toEqual(expect.arrayContaining([...expected]));
  });
});
