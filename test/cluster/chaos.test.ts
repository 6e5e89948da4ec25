import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finding, FindingCode } from "../crash/checker.ts";
import { PostgresServer } from "../support/postgres.ts";
import { runSeed } from "../support/random.ts";
import { Resources } from "../support/resources.ts";
import { Cluster, type ClusterOptions, REPLICAS } from "./cluster.ts";

const seed = runSeed();
const ROUNDS = Number(process.env["COUNTERSIGN_ROUNDS"] ?? 200);
const ROUNDS_PER_LEDGER = 40;
const LEDGERS = Math.ceil(ROUNDS / ROUNDS_PER_LEDGER);
const TIMEOUT_MS = 300_000;

interface World extends Omit<ClusterOptions, "seed"> {
  readonly title: string;
  /** What may be found because the database was told that it may lose it. */
  readonly tolerated: readonly FindingCode[];
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
    tolerated: ["lost-record", "lost-answer"],
  },
];

/** What a replica may complain of while its database is away, or its session is fought over. */
const EXPECTED =
  /cannot be used: the server does not answer|kept changing under|took too long and was given up/;

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

let server: PostgresServer;
const seen = new Set<string>();

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(async () => {
  await server.stop();
});

describe(`${REPLICAS} replicas killed, stopped, cut off and frozen out (COUNTERSIGN_SEED=${seed})`, () => {
  const ledgers = Array.from({ length: LEDGERS }, (_, ledger) => ({
    ledger,
    rounds: roundsOf(ledger),
    ...(WORLDS[ledger % WORLDS.length] as World),
  }));

  test.each(ledgers)(
    "ledger $ledger, $title: after $rounds rounds every run is approved, single and accounted for",
    async ({ ledger, rounds, tolerated, ...world }) => {
      const resources = new Resources();
      const intolerable = (findings: readonly Finding[]): readonly Finding[] =>
        findings.filter(({ code }) => !tolerated.includes(code));
      try {
        const cluster = await Cluster.start(resources, server, { ...world, seed: seed + ledger });
        const { lives } = cluster;
        await cluster.rounds(rounds, seed + ledger, async () => {
          expect(intolerable(await lives.check("running")), "after a round").toEqual([]);
        });
        await cluster.end();
        await lives.untilDone({ settle: false });
        expect(intolerable(await lives.check("rest")), "at rest").toEqual([]);
        await lives.untilDone({ settle: true });
        expect(intolerable(await lives.check("rest")), "settled").toEqual([]);
        expect(lives.errors.filter((error) => !EXPECTED.test(error))).toEqual([]);
        for (const kind of await lives.journalKinds()) seen.add(kind);
      } finally {
        await resources.release();
      }
    },
    TIMEOUT_MS,
  );

  test(`${ROUNDS} rounds came to everything that a call can go through`, () => {
    expect([...seen]).toEqual(expect.arrayContaining(EXERCISED));
  });
});

function roundsOf(ledger: number): number {
  return Math.min(ROUNDS_PER_LEDGER, ROUNDS - ledger * ROUNDS_PER_LEDGER);
}
