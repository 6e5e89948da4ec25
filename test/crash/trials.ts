import type { LedgerPlace } from "../support/ledger/open-view.ts";
import type { Resources } from "../support/resources.ts";
import type { FindingCode } from "./checker.ts";
import type { Kind } from "./life.ts";
import { Lives } from "./lives.ts";
import type { Strike } from "./points.ts";
import type { Sabotage } from "./sabotage.ts";

const SEED = 1;
const SESSIONS = 3;
/** For processes that wait for each other: a lease that ran out meanwhile would be what keeps them apart. */
const LONG_LEASE = { leaseMs: 120_000, heartbeatMs: 1_000 };

/** What happens to the same run with a broken engine and with a sound one. */
export interface Trial {
  readonly claim: string;
  readonly sabotage: Sabotage;
  readonly kind: Kind;
  /** Where a first process dies, if the fault lies in recovering. */
  readonly strike?: Strike;
  readonly expected: readonly FindingCode[];
}

/** Faults that any ledger can have. */
export const TRIALS: readonly Trial[] = [
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

/** Where a trial takes place: a file of its own, unless a ledger is named. */
export interface TrialPlace {
  readonly resources: Resources;
  readonly ledger?: LedgerPlace;
}

/** What is found after one process, or the one that follows it, has done what it can. */
export async function codesOfRun(
  place: TrialPlace,
  { kind, strike }: Pick<Trial, "kind" | "strike">,
  fault: { readonly sabotage?: Sabotage } = {},
): Promise<readonly string[]> {
  const lives = await begin(place, kind);
  if (strike === undefined) lives.addSessions(SESSIONS);
  else await lives.untilStruck({ settle: false, strike }, SESSIONS);
  // A broken engine may never be done.
  await (fault.sabotage === undefined
    ? lives.untilDone({ settle: false })
    : lives.untilPaused({ settle: false, ...fault }));
  return codesOf(lives);
}

/**
 * Two processes decide one call, both having judged from the same snapshot before either commits. They agree, unless
 * they are to quarrel.
 */
export async function codesOfMeeting(
  place: TrialPlace,
  { sabotage, quarrel = 0 }: { readonly sabotage: Sabotage; readonly quarrel?: number },
): Promise<readonly string[]> {
  const lives = await begin(place, "approve");
  lives.addSessions(1);
  const racers = [0, 1].map((index) =>
    lives.start({ settle: false, sabotage, quarrel, lease: LONG_LEASE, share: { index, of: 2 } }),
  );
  await Promise.all(racers.map((racer) => racer.line("at-decision")));
  for (const racer of racers) racer.send({ type: "go" });
  await Promise.all(racers.map((racer) => racer.line("done")));
  for (const racer of racers) racer.send({ type: "close" });
  await Promise.all(racers.map(({ ended }) => ended));
  return codesOf(lives);
}

/** A process is stopped in the body; another one does everything that is left; then the first one wakes. */
export async function codesOfWaking(
  place: TrialPlace,
  { sabotage, leaseMs }: { readonly sabotage?: Sabotage; readonly leaseMs: number },
): Promise<readonly string[]> {
  const lives = await begin(place, "approve");
  lives.addSessions(1);
  const lease = { leaseMs, heartbeatMs: leaseMs / 3 };
  const strike = { point: "tool:effect", passage: 1, signal: "SIGSTOP" } as const;
  const stopped = lives.start({ settle: false, lease, strike });
  await stopped.line("struck");
  await lives.untilDone({ settle: true, lease, ...(sabotage === undefined ? {} : { sabotage }) });
  stopped.signal("SIGCONT");
  await stopped.line("done");
  stopped.send({ type: "close" });
  await stopped.ended;
  return codesOf(lives);
}

function begin({ resources, ledger }: TrialPlace, kind: Kind): Promise<Lives> {
  return Lives.begin(resources, {
    seed: SEED,
    kinds: [kind],
    ...(ledger === undefined ? {} : { ledger }),
  });
}

async function codesOf(lives: Lives): Promise<readonly string[]> {
  const findings = await lives.check("rest");
  return [...new Set(findings.map(({ code }) => code))];
}
