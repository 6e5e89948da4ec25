import { afterAll, describe, expect, test } from "vitest";
import type { Finding, FindingCode } from "../crash/checker.ts";
import { effort } from "../support/effort.ts";
import { PostgresServer } from "../support/postgres/server.ts";
import { runSeed } from "../support/random.ts";
import { Resources } from "../support/resources.ts";
import { Cluster, type ClusterOptions, REPLICAS, type Strike } from "./cluster.ts";
import { BLOWS } from "./replica.ts";
import { Totals } from "./totals.ts";

const seed = runSeed();
const USUAL_ROUNDS = 200;
const ROUNDS = effort({ short: 10, long: USUAL_ROUNDS, variable: "COUNTERSIGN_ROUNDS" });
// A few rounds have two of the three kinds of databases; the seed says which.
const ROUNDS_PER_LEDGER = ROUNDS < USUAL_ROUNDS ? 5 : 50;
const LEDGERS = Math.ceil(ROUNDS / ROUNDS_PER_LEDGER);
const TIMEOUT_MS = 600_000;
/** For whoever is not struck any more: a busy machine does not take it away. */
const PATIENT = { leaseMs: 3_000, heartbeatMs: 500 };

interface World extends Omit<ClusterOptions, "seed"> {
  readonly title: string;
  /** What may be found because the database was told that it may lose it. */
  readonly tolerated: readonly FindingCode[];
  /** Whose runs it may lose every trace of. */
  readonly untraced?: RegExp;
  /** What may be complained of for the same reason. */
  readonly complaints?: RegExp;
}

const WORLDS: readonly World[] = [
  { title: "a database that is shut down and started", restart: "fast", tolerated: [] },
  {
    title: "a database that crashes, everything synced",
    restart: "crash",
    durability: "full",
    tolerated: [],
  },
  {
    title: "a database that crashes, only decisions and claims synced",
    restart: "crash",
    // Withdrawals are not synced either: a question that was taken back may be open again.
    tolerated: ["lost-record", "lost-answer"],
    // What may be repeated and needs nobody's approval is claimed without a sync: it is done again.
    untraced: / \((look|lookup)\), attempt \d+ ran/,
    // A session that was there at one look is gone at the next.
    complaints: /was already used for \w+ with different arguments/,
  },
];

/** What a replica may complain of while its database is away, or its session is fought over. */
const EXPECTED =
  /cannot be used: the server does not answer|lost; it is unknown whether|kept changing while|A statement on the ledger .* timed out/;

/** What must have happened, or the blows proved nothing about it. */
const EXERCISED = [
  "confirmation-approved",
  "confirmation-denied",
  "confirmation-expired",
  "confirmation-cancelled",
  "call-started",
  "call-succeeded",
  "call-failed",
  "call-unknown",
  "call-settled",
  "call-released",
  "call-delegated",
  "step-done",
];
const STRIKES: readonly Strike[] = [...BLOWS, "restart"];

function isTolerated(
  { tolerated, untraced }: Pick<World, "tolerated" | "untraced">,
  { code, message }: Finding,
): boolean {
  if (code === "unclaimed-run" || code === "unaccounted-run") return untraced?.test(message) === true;
  return tolerated.includes(code);
}

/** As many as ledgers are struck at once: a database that is restarted is nobody else's. */
const free: PostgresServer[] = [];
const totals = new Totals();

afterAll(async () => {
  await Promise.all(free.map((server) => server.stop()));
});

// A ledger is what its own seed makes of it: any of them can be run again, and a run be gone on with, from there.
describe.concurrent(`${REPLICAS} replicas killed, stopped, cut off and frozen out (COUNTERSIGN_SEED=${seed})`, () => {
  const ledgers = Array.from({ length: LEDGERS }, (_, index) => ({
    own: seed + index,
    rounds: Math.min(ROUNDS_PER_LEDGER, ROUNDS - index * ROUNDS_PER_LEDGER),
    ...(WORLDS[(seed + index) % WORLDS.length] as World),
  }));

  test.each(ledgers)(
    "seed $own, $title: after $rounds rounds every run is approved, single and accounted for",
    async ({ own, rounds, complaints = EXPECTED, ...world }) => {
      const resources = new Resources();
      const server = free.pop() ?? (await PostgresServer.start());
      const intolerable = (findings: readonly Finding[]): readonly Finding[] =>
        findings.filter((finding) => !isTolerated(world, finding));
      try {
        const cluster = await Cluster.start(resources, server, { ...world, seed: own });
        const { lives } = cluster;
        await cluster.rounds(rounds, own, async () => {
          expect(intolerable(await lives.check("running")), "after a round").toEqual([]);
        });
        await cluster.lastStrikes(own);
        expect(await cluster.rest(), "the replicas go on by themselves").toBe(true);
        expect(intolerable(await lives.check("rest")), "at rest").toEqual([]);
        await cluster.end();
        await lives.untilDone({ settle: true, lease: PATIENT });
        expect(intolerable(await lives.check("rest")), "settled").toEqual([]);
        expect(lives.errors.filter((error) => !EXPECTED.test(error) && !complaints.test(error))).toEqual([]);
        totals.add(await lives.tally(), cluster.struck);
        // Whoever asked for more than usual waits for it.
        if (ROUNDS > USUAL_ROUNDS) console.log(`up to seed ${own}: ${totals.text}`);
      } finally {
        await resources.release();
        free.push(server);
      }
    },
    TIMEOUT_MS,
  );
});

// A few rounds come to some of it, whichever it is.
test.each(ROUNDS >= USUAL_ROUNDS ? [ROUNDS] : [])(
  "%i rounds came to everything that a call can go through",
  () => {
    expect([...totals.records.keys()]).toEqual(expect.arrayContaining(EXERCISED));
    expect([...totals.struck.keys()]).toEqual(expect.arrayContaining([...STRIKES]));
    expect(totals.refusals, "decisions that lost a race").toBeGreaterThan(0);
  },
);
