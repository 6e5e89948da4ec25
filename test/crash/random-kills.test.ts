import { describe, expect, test } from "vitest";
import { effort } from "../support/effort.ts";
import { Random, runSeed } from "../support/random.ts";
import { Resources } from "../support/resources.ts";
import { KINDS, type LifeOptions } from "./life.ts";
import { assertKilled, Lives } from "./lives.ts";
import { NAMED_KILLS } from "./named-points.ts";

const seed = runSeed();
/** In the whole suite, with those at named points. */
const USUAL_KILLS = 300;
const ALL_KILLS = effort({ short: NAMED_KILLS + 25, long: USUAL_KILLS, variable: "COUNTERSIGN_KILLS" });
const KILLS = ALL_KILLS - NAMED_KILLS;
const KILLS_PER_LEDGER = 25;
const LEDGERS = Math.ceil(KILLS / KILLS_PER_LEDGER);
const PROCESSES = 2;
const SESSIONS_PER_LIFE = 8;

// From the start: while it opens the ledger and recovers. From when it is ready: amid its work.
const LONGEST_START_MS = 150;
const LONGEST_LIFE_MS = 90;
const TIMEOUT_MS = 180_000;

let killed = 0;
const seen = new Set<string>();

/** What must have happened, or the kills proved nothing about it. */
const EXERCISED = [
  "confirmation-requested",
  "confirmation-approved",
  "confirmation-denied",
  "confirmation-expired",
  "confirmation-cancelled",
  "calls-started",
  "call-started",
  "call-succeeded",
  "call-failed",
  "call-denied",
  "call-delegated",
  "call-returned",
  "step-started",
  "step-done",
];

/** What only a kill inside a function leads to: certain with many kills. With fewer, kills at named points lead to it. */
const BY_CHANCE = ["call-unknown", "call-released", "call-settled"];
const MANY_KILLS = 2_000;

/** What no ledger does without. */
const USUAL = ["confirmation-requested", "confirmation-approved", "call-started", "call-succeeded"];

describe(`${PROCESSES} processes on one ledger, killed at random (COUNTERSIGN_SEED=${seed})`, () => {
  test.each(Array.from({ length: LEDGERS }, (_, ledger) => ({ ledger, kills: killsOf(ledger) })))(
    "ledger $ledger: after $kills kills every run is approved, single and accounted for",
    async ({ ledger, kills }) => {
      const resources = new Resources();
      try {
        const lives = await Lives.begin(resources, { seed: seed + ledger, kinds: KINDS });
        const random = new Random(seed + ledger);
        let left = kills;
        await Promise.all(
          Array.from({ length: PROCESSES }, async (_, index) => {
            const share = { index, of: PROCESSES };
            for (; left > 0; ) {
              left -= 1;
              await liveAndDie(lives, random, share);
              expect(await lives.check("running"), "after a kill").toEqual([]);
            }
          }),
        );
        await lives.untilDone({ settle: false });
        expect(await lives.check("rest"), "at rest").toEqual([]);
        await lives.untilDone({ settle: true });
        expect(await lives.check("rest"), "settled").toEqual([]);
        expect(lives.errors).toEqual([]);
        for (const kind of await lives.journalKinds()) seen.add(kind);
      } finally {
        await resources.release();
      }
    },
    TIMEOUT_MS,
  );

  test(`${KILLS} processes were killed (${NAMED_KILLS} more at named points), amid everything that a call can go through`, () => {
    expect(killed).toBe(KILLS);
    expect([...seen]).toEqual(expect.arrayContaining([...expectedOf(ALL_KILLS)]));
  });
});

/** Fewer kills than usual come to some of it, whichever it is. */
function expectedOf(kills: number): readonly string[] {
  if (kills < USUAL_KILLS) return USUAL;
  return kills < MANY_KILLS ? EXERCISED : [...EXERCISED, ...BY_CHANCE];
}

function killsOf(ledger: number): number {
  return Math.min(KILLS_PER_LEDGER, KILLS - ledger * KILLS_PER_LEDGER);
}

/** One process, and its end at an instruction that nobody chose. */
async function liveAndDie(lives: Lives, random: Random, share: LifeOptions["share"]): Promise<void> {
  lives.addSessions(SESSIONS_PER_LIFE);
  const early = random.chance(0.2);
  const micros = random.fraction() * (early ? LONGEST_START_MS : LONGEST_LIFE_MS) * 1_000;
  const child = lives.start({ settle: random.chance(0.5), share });
  if (!early) await child.line("ready");
  await microseconds(micros);
  const end = await child.kill();
  assertKilled(end, child.complaints);
  killed += 1;
}

// Timers tick in milliseconds; the rest is waited out, so that every instruction can be the last one.
async function microseconds(micros: number): Promise<void> {
  const until = performance.now() + micros / 1_000;
  await new Promise((resolve) => setTimeout(resolve, Math.floor(micros / 1_000)));
  while (performance.now() < until);
}
