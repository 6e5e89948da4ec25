import { describe, expect, test, vi } from "vitest";
import { runSeed } from "../../support/random.ts";
import { Resources } from "../../support/resources.ts";
import type { Place } from "./killer.ts";
import { SCENARIO_NAMES, SCENARIOS } from "./scenarios.ts";
import { Troupe } from "./troupe.ts";

const seed = runSeed();
const TIMEOUT_MS = 120_000;
/** No scenario has as many; a process that is never done has a fault. */
const MOST = 60;
// Processes wait for leases more than they work.
vi.setConfig({ maxConcurrency: 8 });

const WAYS: readonly { readonly around: string; readonly places: readonly Place[] }[] = [
  { around: "before each commit", places: ["before"] },
  { around: "after each commit", places: ["after"] },
  { around: "in each body", places: ["enter", "effect"] },
];

let killed = 0;

describe.concurrent(`a Runner's process that is killed (COUNTERSIGN_SEED=${seed})`, () => {
  const cases = [
    ...SCENARIO_NAMES.flatMap((scenario) => WAYS.map((way) => ({ scenario, ...way }))),
    { scenario: "provider", around: "while the provider is asked", places: ["provider", "answer"] },
  ] as const;

  test.each(cases)(
    "$scenario, $around: another process goes on, and all is said and done once",
    async ({ scenario, places }) => {
      const resources = new Resources();
      try {
        const troupe = await Troupe.gather(resources, { scenarios: [scenario], seed });
        let kills = 0;
        for (const place of places) {
          for (let n = 1; await troupe.strike(`${scenario}:${place}-${n}`, { place, n }); n++) {
            kills += 1;
            if (n === MOST) throw new Error(`${scenario} is never done.`);
          }
        }
        // The last one was not struck, and has brought everything to its end.
        expect(await troupe.judge()).toEqual([]);
        // Fewer, and the kills between them prove less than they say.
        expect(kills).toBeGreaterThanOrEqual(places.length === 1 ? SCENARIOS[scenario].commits : 1);
        killed += kills;
      } finally {
        await resources.release();
      }
    },
    TIMEOUT_MS,
  );
});

test("that were many", () => {
  expect(killed).toBeGreaterThanOrEqual(150);
});
