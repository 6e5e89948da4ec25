import { describe, expect, test } from "vitest";
import type { Finding } from "../crash/checker.ts";
import { effort, isLong } from "../support/effort.ts";
import { Random, runSeed } from "../support/random.ts";
import { useResources } from "../support/resources.ts";
import { FailoverCluster, type World } from "./failover-cluster.ts";
import { isTolerated, untold } from "./tolerated.ts";

const seed = runSeed();
const USUAL_ROUNDS = 2;
const ROUNDS = effort({ short: USUAL_ROUNDS, long: USUAL_ROUNDS, variable: "COUNTERSIGN_FAILOVERS" });
const TIMEOUT_MS = 900_000;
/** For whoever is not struck any more: a busy machine does not take it away. */
const PATIENT = { leaseMs: 3_000, heartbeatMs: 500 };

const WORLDS: readonly World[] = [
  { title: "the same server comes back" },
  { title: "a synchronous standby", standby: { synchronous: true, behindMs: 0 } },
  { title: "an asynchronous standby", standby: { synchronous: false, behindMs: 0 } },
  { title: "a standby 50 ms behind", standby: { synchronous: false, behindMs: 50 } },
  { title: "a standby 500 ms behind", standby: { synchronous: false, behindMs: 500 } },
];

/** What a replica may complain of while its database is away, or its session is fought over. */
const EXPECTED =
  /cannot be used: the server|lost; it is unknown whether|kept changing while|A statement on the ledger .* timed out|was already used for \w+ with different arguments/;
/** Whoever waits for a call whose session went with a standby that is behind. */
const GONE = /There is no call/;

describe(`the database's server is killed under three replicas (COUNTERSIGN_SEED=${seed})`, () => {
  const resources = useResources();

  // Those in which nothing that was synced is lost belong to the long proofs of the suite, the first to every run.
  test.each(ROUNDS > USUAL_ROUNDS ? WORLDS : WORLDS.slice(0, isLong ? 2 : 1))(
    `$title, ${ROUNDS} times: nothing runs twice, nothing is stuck, and who must know is told`,
    async (world) => {
      const cluster = await FailoverCluster.start(resources, { world, seed });
      const { lives } = cluster;
      const random = new Random(seed);
      for (let round = 0; round < ROUNDS; round++)
        await cluster.round(random, round % 2 === 0 ? "cut" : "silent");
      const rested = await cluster.rest();
      const found = await lives.check("rest");
      const atRest = found.filter((finding) => !isTolerated(world, finding, lives.notices));
      await cluster.end();
      await lives.untilDone({ settle: true, lease: PATIENT });
      const settled = (await lives.check("rest")).filter(
        (finding) => !isTolerated(world, finding, lives.notices),
      );
      if (ROUNDS > USUAL_ROUNDS) console.log(`${world.title}: ${JSON.stringify(countsOf(atRest))}`);
      expect(atRest, "at rest").toEqual([]);
      expect(untold(world, { found, notices: lives.notices, rounds: ROUNDS }), "told").toEqual([]);
      expect(rested, "the replicas go on by themselves").toBe(true);
      expect(settled, "settled").toEqual([]);
      const isBehind = world.standby?.synchronous === false;
      const expected = (error: string): boolean => EXPECTED.test(error) || (isBehind && GONE.test(error));
      expect(lives.errors.filter((error) => !expected(error))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

function countsOf(findings: readonly Finding[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { code } of findings) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
