import { expect, test } from "vitest";
import { Random, runSeed } from "../support/random.ts";
import { useResources } from "../support/resources.ts";
import { onPostgres, Race, type RacerHandle, roundsOf, soon } from "./race.ts";
import type { Release } from "./racing.ts";

const seed = runSeed();
const resources = useResources();
/** How far apart, at most, the decision and the release are aimed: about as long as either takes. */
const SPREAD_MS = onPostgres ? 6 : 1.5;

interface Tally {
  readonly lost: number;
  /** Rounds in which whoever let go took up what the decision had left. */
  readonly byHolder: number;
  readonly byDecider: number;
}

interface Aim {
  readonly how: Release;
  /** Has what the rounds are aimed at happened? A busy machine needs more of them. */
  readonly until: (tally: Tally) => boolean;
}

/** So many times as many rounds are played, if need be. */
const MOST_TIMES = 10;

/**
 * A decision completes a turn while another step of its session, in another process, lets go. Neither process
 * has a worker, so whoever misses the other leaves a turn that nobody takes up.
 */
async function raceFor(
  rounds: number,
  { how, until, blindly = false }: Aim & { readonly blindly?: boolean },
): Promise<Tally> {
  const race = await Race.on(resources);
  const holder = await race.racer("holder", { releasesBlindly: blindly });
  const decider = await race.racer("decider");
  const random = new Random(seed);
  const tally = { lost: 0, byHolder: 0, byDecider: 0 };
  const most = rounds * MOST_TIMES;
  for (let round = 0; round < rounds || (!until(tally) && round < most); round++) {
    const stepped = await playRound({ race, holder, decider }, { session: `s${round}`, how, random });
    if (stepped === undefined) tally.lost += 1;
    else tally[stepped === holder ? "byHolder" : "byDecider"] += 1;
  }
  return tally;
}

async function playRound(
  on: { readonly race: Race; readonly holder: RacerHandle; readonly decider: RacerHandle },
  { session, how, random }: { readonly session: string; readonly how: Release; readonly random: Random },
): Promise<RacerHandle | undefined> {
  const { race, holder, decider } = on;
  const { confirmation = "" } = await holder.ask({ do: "message", session, number: 0 });
  await holder.ask({ do: "message", session, number: 1 });
  const steps = [holder, decider].map((racer) =>
    racer.child.line("stepped", (line) => line.session === session).then(() => racer),
  );
  // The one that does not step hears nothing until its process ends.
  for (const step of steps) step.catch(() => {});
  const at = soon();
  const [confirmed, offset] = [random.chance(0.5), (random.fraction() * 2 - 1) * SPREAD_MS];
  await Promise.all([
    holder.ask({ do: "let-go", session, how, at }),
    decider.ask({ do: "decide", confirmation, confirmed, times: 1, at: at + offset }),
  ]);
  // Both have looked for the last time: what nobody holds now, nobody will ever take.
  const [frame] = await race.look((view) => view.framesOfSession(session));
  return frame?.status === "ready" ? undefined : Promise.race(steps);
}

test(`a turn that a decision completes while its session is let go is never lost: ${roundsOf(400)} rounds (COUNTERSIGN_SEED=${seed})`, async () => {
  const { lost, byHolder, byDecider } = await raceFor(roundsOf(400), {
    how: "finish",
    until: (tally) => tally.byHolder > 0 && tally.byDecider > 0,
  });
  expect(lost).toBe(0);
  expect(byHolder, "the window was hit").toBeGreaterThan(0);
  expect(byDecider).toBeGreaterThan(0);
});

test(`nor when it is let go because its next turn waits for a person: ${roundsOf(100)} rounds (COUNTERSIGN_SEED=${seed})`, async () => {
  const { lost, byHolder } = await raceFor(roundsOf(100), {
    how: "pause",
    until: (tally) => tally.byHolder > 0,
  });
  expect(lost).toBe(0);
  expect(byHolder, "the window was hit").toBeGreaterThan(0);
});

test("an engine that releases a session without checking loses turns, and this test finds it", async () => {
  const { lost } = await raceFor(roundsOf(60), {
    how: "finish",
    blindly: true,
    until: (tally) => tally.lost > 0,
  });
  expect(lost).toBeGreaterThan(0);
});
