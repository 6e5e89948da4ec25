import { describe, expect, test, vi } from "vitest";
import { effort } from "../../support/effort.ts";
import { runSeed } from "../../support/random.ts";
import { Resources } from "../../support/resources.ts";
import type { Place } from "./killer.ts";
import { RunnerProcesses } from "./runner-processes.ts";
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from "./scenarios.ts";

const seed = runSeed();
const TIMEOUT_MS = 120_000;
/** Nothing takes as many; a process that is never done has a fault. */
const MOST = 60;
/** Every commit, or every third: which of the three the seed says. */
const STEP = effort({ short: 3, long: 1 });
const FIRST = 1 + (seed % STEP);
// Processes wait for leases more than they work.
vi.setConfig({ maxConcurrency: 8 });

const WAYS: readonly { readonly where: string; readonly places: readonly Place[] }[] = [
  { where: "before each commit", places: ["before"] },
  { where: "after each commit", places: ["after"] },
  { where: "in each body", places: ["enter", "effect"] },
];
const CASES = SCENARIO_NAMES.flatMap((scenario) => WAYS.map((way) => ({ scenario, ...way })));

let killed = 0;

/** Plays a scenario until it is judged; the play says how many processes were killed. */
async function play(
  scenario: ScenarioName,
  kill: (processes: RunnerProcesses) => Promise<number>,
  options: { readonly maxLostAttempts?: number } = {},
): Promise<number> {
  const resources = new Resources();
  try {
    const processes = await RunnerProcesses.gather(resources, { scenarios: [scenario], seed, ...options });
    const kills = await kill(processes);
    killed += kills;
    // The last process was not struck, and has brought everything to its end.
    expect(await processes.judge()).toEqual([]);
    return kills;
  } finally {
    await resources.release();
  }
}

/** Strikes one process after another, each at the next passage of the place, until one is spared. */
async function strikeAll(processes: RunnerProcesses, scenario: ScenarioName, place: Place): Promise<number> {
  let kills = 0;
  for (let n = place === "before" || place === "after" ? FIRST : 1; n <= MOST; n += STEP) {
    if (!(await processes.strike({ place, n }, `${scenario}:${place}-${n}`))) return kills;
    kills += 1;
  }
  throw new Error(`${scenario} is never done.`);
}

describe.concurrent(`a Runner's process that is killed (COUNTERSIGN_SEED=${seed})`, () => {
  test.each(CASES)(
    "$scenario, $where: another process goes on, and all is said and done once",
    async ({ scenario, places }) => {
      const kills = await play(scenario, async (processes) => {
        let all = 0;
        for (const place of places) all += await strikeAll(processes, scenario, place);
        return all;
      });
      // Fewer, and the kills between them prove less than they say.
      const least = Math.floor(SCENARIOS[scenario].commits / STEP);
      expect(kills).toBeGreaterThanOrEqual(places.length === 1 ? least : 1);
    },
    TIMEOUT_MS,
  );

  test.each(["provider", "answer"] as const)(
    "while its provider is asked (%s): the question waits for a person, who decides in another process",
    async (place) => {
      await play("provider", async (processes) => {
        const kills = await strikeAll(processes, "provider", place);
        expect(kills).toBe(1);
        // The one whose provider was killed; the one that was spared answered by itself.
        expect(processes.decisions()).toEqual([true]);
        return kills;
      });
    },
    TIMEOUT_MS,
  );

  test.each(["plain", "nested", "group", "loop"] as const)(
    "%s comes to its end though no process lives for more than three commits",
    async (scenario) => {
      const kill = async (processes: RunnerProcesses): Promise<number> => {
        processes.add(`${scenario}:steps`);
        let kills = 0;
        while (kills < MOST && (await processes.strike({ place: "after", n: 3 }))) kills += 1;
        expect(kills).toBeGreaterThanOrEqual(2);
        expect(kills).toBeLessThan(MOST);
        return kills;
      };
      // On a busy machine one step may be struck more often than a step may be lost.
      await play(scenario, kill, { maxLostAttempts: MOST });
    },
    TIMEOUT_MS,
  );
});

test("that were many", () => {
  expect(killed).toBeGreaterThanOrEqual(150 / STEP);
});
