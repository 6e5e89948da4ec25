import { expect, test } from "vitest";
import { Random, runSeed } from "../support/random.ts";
import { useResources } from "../support/resources.ts";
import { onPostgres, Race, type RacerHandle, soon } from "./race.ts";
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

/**
 * A decision completes a turn while another step of its session, in another process, lets go. Neither process
 * has a worker, so whoever misses the other leaves a turn that nobody takes up.
 */
async function race400(
  rounds: number,
  { how, blindly = false }: { readonly how: Release; readonly blindly?: boolean },
): Promise<Tally> {
  const race = await Race.on(resources);
  const holder = await race.racer("holder", { releasesBlindly: blindly });
  const decider = await race.racer("decider");
  const random = new Random(seed);
  const tally = { lost: 0, byHolder: 0, byDecider: 0 };
  for (let round = 0; round < rounds; round++) {
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

test(`a turn that a decision completes while its session is let go is never lost: 400 rounds (COUNTERSIGN_SEED=${seed})`, async () => {
  const { lost, byHolder, byDecider } = await race400(400, { how: "finish" });
  expect(lost).toBe(0);
  expect(byHolder, "the window was hit").toBeGreaterThan(0);
  expect(byDecider).toBeGreaterThan(0);
});

test(`nor when it is let go because its next turn waits for a person: 100 rounds (COUNTERSIGN_SEED=${seed})`, async () => {
  const { lost, byHolder } = await race400(100, { how: "pause" });
  expect(lost).toBe(0);
  expect(byHolder, "the window was hit").toBeGreaterThan(0);
});

test("an engine that lets go without looking loses some of 60: this test would notice", async () => {
  const { lost } = await race400(60, { how: "finish", blindly: true });
  expect(lost).toBeGreaterThan(0);
});
