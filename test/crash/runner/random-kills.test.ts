import { expect, test } from "vitest";
import { effort } from "../../support/effort.ts";
import { Random, runSeed } from "../../support/random.ts";
import { useResources } from "../../support/resources.ts";
import { assertKilled } from "../lives.ts";
import { RunnerProcesses } from "./runner-processes.ts";
import { SCENARIO_NAMES, type ScenarioName } from "./scenarios.ts";

const seed = runSeed();
const KILLS = effort({ short: 10, long: 30 });
const PROCESSES = 2;
const SESSIONS_PER_LIFE = 3;
// Longer than a lease: some live to take up what the one before left, and are killed at that.
const LONGEST_LIFE_MS = 400;
const resources = useResources();

test(`${PROCESSES} Runners' processes on one ledger, killed ${KILLS} times at random, do everything once (COUNTERSIGN_SEED=${seed})`, async () => {
  const random = new Random(seed);
  const runners = await RunnerProcesses.gather(resources, {
    scenarios: SCENARIO_NAMES,
    seed,
    // A slow machine hits one step more often than the default allows; what the limit does has tests of its own.
    maxLostAttempts: KILLS,
  });
  let left = KILLS;
  let sessions = 0;
  const liveAndDie = async (index: number): Promise<void> => {
    for (let more = 0; more < SESSIONS_PER_LIFE; more++) {
      runners.add(`${SCENARIO_NAMES[sessions % SCENARIO_NAMES.length] as ScenarioName}:${sessions}`);
      sessions += 1;
    }
    const micros = random.fraction() * LONGEST_LIFE_MS * 1_000;
    const child = runners.enter({ share: { index, of: PROCESSES } });
    await child.line("ready");
    await microseconds(micros);
    assertKilled(await child.kill(), child.complaints);
  };
  await Promise.all(
    Array.from({ length: PROCESSES }, async (_, index) => {
      for (; left > 0; ) {
        left -= 1;
        await liveAndDie(index);
      }
    }),
  );
  await runners.finish();
  expect(await runners.judge()).toEqual([]);
});

// The moment to kill is the only thing here that time decides; nothing is expected to have happened by then.
async function microseconds(micros: number): Promise<void> {
  const until = performance.now() + micros / 1_000;
  await new Promise((resolve) => setTimeout(resolve, Math.floor(micros / 1_000)));
  while (performance.now() < until);
}
