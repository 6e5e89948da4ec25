import { describe, expect, test } from "vitest";
import type { Finding, FindingCode } from "../crash/checker.ts";
import { Random, runSeed } from "../support/random.ts";
import { useResources } from "../support/resources.ts";
import { Stage, type World } from "./stage.ts";

const seed = runSeed();
const USUAL_ROUNDS = 2;
const ROUNDS = Number(process.env["COUNTERSIGN_FAILOVERS"] ?? USUAL_ROUNDS);
const TIMEOUT_MS = 900_000;
/** For whoever is not struck any more: a busy machine does not take it away. */
const PATIENT = { leaseMs: 3_000, heartbeatMs: 500 };

/** What nobody asked to be synced may be lost with the memory of the server that is killed. */
const UNSYNCED: readonly FindingCode[] = ["lost-record", "lost-answer"];
/** A standby that is behind lacks records that were acknowledged, and gives their numbers to others. */
const BEHIND: readonly FindingCode[] = [
  ...UNSYNCED,
  "lost-decision",
  "unclaimed-run",
  "unapproved-run",
  // Beats were lost too.
  "early-takeover",
];
// A step that could not be recorded fails its tool, which has not begun it.
const AWAY = /cannot be used: the server does not answer/;
// What may be repeated and needs nobody's approval is claimed without a sync: it is done again.
const UNTRACED = / \((look|lookup)\), attempt \d+ ran/;
// The records that were written last name a checkpoint that the standby never had.
const CHECKPOINT_GONE = /that checkpoint is gone/;
const SESSION_GONE = /ran, and the ledger says nothing$/;

const WORLDS: readonly World[] = [
  { title: "the same server comes back" },
  { title: "a synchronous standby", standby: { synchronous: true, behindMs: 0 } },
  { title: "an asynchronous standby", standby: { synchronous: false, behindMs: 0 } },
  { title: "a standby 50 ms behind", standby: { synchronous: false, behindMs: 50 } },
  { title: "a standby 500 ms behind", standby: { synchronous: false, behindMs: 500 } },
];

function isTolerated({ standby }: World, { code, message }: Finding): boolean {
  const isBehind = standby?.synchronous === false;
  if (code === "phantom-result" && AWAY.test(message)) return true;
  if (code === "broken-chain" && isBehind && CHECKPOINT_GONE.test(message)) return true;
  if (code === "unaccounted-run" && isBehind && SESSION_GONE.test(message)) return true;
  if (code === "unclaimed-run" || code === "unaccounted-run") if (UNTRACED.test(message)) return true;
  return (isBehind ? BEHIND : UNSYNCED).includes(code);
}

/** What a replica may complain of while its database is away, or its session is fought over. */
const EXPECTED =
  /cannot be used: the server|was lost while it was asked|kept changing under|took too long and was given up|was used for \w+ with other arguments/;

describe(`the database's server is killed under three replicas (COUNTERSIGN_SEED=${seed})`, () => {
  const resources = useResources();

  // Those in which nothing that was synced is lost are struck within every run of the suite.
  test.each(ROUNDS > USUAL_ROUNDS ? WORLDS : WORLDS.slice(0, 2))(
    `$title, ${ROUNDS} times: nothing runs twice, nothing is stuck, and who must know is told`,
    async (world) => {
      const stage = await Stage.start(resources, { world, seed });
      const { lives } = stage;
      const random = new Random(seed);
      for (let round = 0; round < ROUNDS; round++)
        await stage.round(random, round % 2 === 0 ? "cut" : "silent");
      const rested = await stage.rest();
      const found = await lives.check("rest");
      const atRest = found.filter((finding) => !isTolerated(world, finding));
      await stage.end();
      await lives.untilDone({ settle: true, lease: PATIENT });
      const settled = (await lives.check("rest")).filter((finding) => !isTolerated(world, finding));
      if (ROUNDS > USUAL_ROUNDS) console.log(`${world.title}: ${JSON.stringify(countsOf(atRest))}`);
      expect(atRest, "at rest").toEqual([]);
      expect(untold(world, found, lives.notices), "told").toEqual([]);
      expect(rested, "the replicas go on by themselves").toBe(true);
      expect(settled, "settled").toEqual([]);
      expect(lives.errors.filter((error) => !EXPECTED.test(error))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

/** Who operates the replicas must have heard of each promotion, and of lost commits where some were lost. */
function untold(
  { standby }: World,
  found: readonly Finding[],
  notices: readonly string[],
): readonly string[] {
  if (standby === undefined) return [];
  const heard = (kind: string): number => notices.filter((one) => one === kind).length;
  const promotions = heard("new-history") < ROUNDS ? ["a promotion"] : [];
  const isLost = !standby.synchronous && found.some(({ code }) => code === "lost-record");
  return isLost && heard("lost-commits") === 0 ? [...promotions, "lost commits"] : promotions;
}

function countsOf(findings: readonly Finding[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { code } of findings) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
