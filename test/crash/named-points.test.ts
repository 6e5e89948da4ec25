import { describe, expect, test } from "vitest";
import { Random, runSeed } from "../support/random.ts";
import { useResources } from "../support/resources.ts";
import { Lives } from "./lives.ts";
import { RUNS } from "./named-points.ts";
import type { Point } from "./points.ts";

const seed = runSeed();
const SESSIONS_PER_LIFE = 4;

describe(`a process killed at a named point (COUNTERSIGN_SEED=${seed})`, () => {
  const resources = useResources();

  test.each(RUNS)("$kind: every run is approved, single and accounted for", async ({ kind, ...run }) => {
    const random = new Random(seed);
    const lives = await Lives.begin(resources, { seed, kinds: [kind] });
    const deaths = [
      ...run.points.map((point) => ({ point, settle: false })),
      ...(run.settle ?? []).map((point) => ({ point, settle: true })),
    ];
    for (const { point, settle } of deaths) {
      const passage = isOfRecovery(point) ? 1 : 1 + random.below(2);
      await lives.untilStruck({ settle, strike: { point, passage } }, SESSIONS_PER_LIFE);
      expect(await lives.check("running"), `after ${point}`).toEqual([]);
    }
    await lives.untilDone({ settle: false });
    expect(await lives.check("rest"), "at rest").toEqual([]);
    await lives.untilDone({ settle: true });
    expect(await lives.check("rest"), "settled").toEqual([]);
    expect(lives.errors).toEqual([]);
    expect(await lives.journalKinds()).toEqual(expect.arrayContaining([...(run.journaled ?? [])]));
  });
});

// How often these are passed depends on how much the deaths before left to recover.
function isOfRecovery(point: Point): boolean {
  return /^(lose|settle|claim|take-up-frame|seal|beat)/.test(point);
}
