import { describe, expect, test } from "vitest";
import { type Resources, useResources } from "../support/resources.ts";
import type { FindingCode } from "./checker.ts";
import type { Kind } from "./life.ts";
import { Lives } from "./lives.ts";
import type { Strike } from "./points.ts";
import type { Sabotage } from "./sabotage.ts";

// A broken engine may never be done; a sound one is in a fraction of this.
const PATIENCE_MS = 3_000;
const SEED = 1;
const SESSIONS = 3;

/** What happens to the same run with a broken engine and with a sound one. */
interface Trial {
  readonly claim: string;
  readonly sabotage: Sabotage;
  readonly kind: Kind;
  /** Where a first process dies, if the fault lies in recovering. */
  readonly strike?: Strike;
  readonly expected: readonly FindingCode[];
}

const TRIALS: readonly Trial[] = [
  {
    claim: "an approval that is written after the run is found as an unapproved run",
    sabotage: "approval-after-run",
    kind: "approve",
    expected: ["unapproved-run", "unclaimed-run"],
  },
  {
    claim: "a session let go without looking for what became ready is found as a stuck frame",
    sabotage: "blind-release",
    kind: "converse",
    expected: ["stuck-frame"],
  },
  {
    claim: "a result that is acknowledged and not written is found as a lost record",
    sabotage: "result-dropped",
    kind: "approve",
    expected: ["lost-record"],
  },
  {
    claim: "an unknown outcome that is run again is found as a second run",
    sabotage: "unknown-retried",
    kind: "approve",
    strike: { point: "tool:effect", passage: 1 },
    expected: ["second-run", "illegal-history"],
  },
];

describe("the checker finds what is wrong with a broken engine", () => {
  const resources = useResources();

  for (const trial of TRIALS) {
    test(`${trial.sabotage}: ${trial.claim}`, async () => {
      expect(await codesOfRun(resources, trial, {}), "a sound engine").toEqual([]);
      const found = await codesOfRun(resources, trial, { sabotage: trial.sabotage });
      expect(found).toEqual(expect.arrayContaining([...trial.expected]));
    });
  }

  test("a claim that does not exclude others is found as a second run", async () => {
    expect(await codesOfMeeting(resources, "none-but-meet"), "a sound engine").toEqual([]);
    expect(await codesOfMeeting(resources, "claim-removed")).toContain("second-run");
  });
});

async function codesOfRun(
  resources: Resources,
  { kind, strike }: Trial,
  fault: { readonly sabotage?: Sabotage },
): Promise<readonly string[]> {
  const lives = await Lives.begin(resources, { seed: SEED, kinds: [kind] });
  lives.addSessions(SESSIONS);
  if (strike !== undefined) await lives.untilStruck({ settle: false, strike });
  await lives.untilDone({ settle: false, ...fault }, PATIENCE_MS);
  return codesOf(lives);
}

/** Two processes approve one call, both having judged from the same snapshot before either commits. */
async function codesOfMeeting(resources: Resources, sabotage: Sabotage): Promise<readonly string[]> {
  const lives = await Lives.begin(resources, { seed: SEED, kinds: ["approve"] });
  lives.addSessions(1);
  const racers = [0, 1].map((index) => lives.start({ settle: false, sabotage, share: { index, of: 2 } }));
  await Promise.all(racers.map((racer) => racer.line("at-approval")));
  for (const racer of racers) racer.send({ type: "go" });
  await Promise.all(racers.map((racer) => racer.line("done")));
  for (const racer of racers) racer.send({ type: "close" });
  await Promise.all(racers.map(({ ended }) => ended));
  return codesOf(lives);
}

async function codesOf(lives: Lives): Promise<readonly string[]> {
  const findings = await lives.check("rest");
  return [...new Set(findings.map(({ code }) => code))];
}
