import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PostgresServer } from "../support/postgres.ts";
import { runSeed } from "../support/random.ts";
import { Resources } from "../support/resources.ts";
import { Cluster, REPLICAS } from "./cluster.ts";

const seed = runSeed();
const ROUNDS = Number(process.env["COUNTERSIGN_ROUNDS"] ?? 200);
const ROUNDS_PER_LEDGER = 40;
const LEDGERS = Math.ceil(ROUNDS / ROUNDS_PER_LEDGER);
const TIMEOUT_MS = 300_000;

/** What a replica may complain of while its database is away, or its session is fought over. */
const EXPECTED =
  /ledger-unreachable|ledger-busy|cannot be used: the server does not answer|kept changing under/;

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(async () => {
  await server.stop();
});

describe(`${REPLICAS} replicas: killed, stopped, cut off, their database restarted (COUNTERSIGN_SEED=${seed})`, () => {
  test.each(Array.from({ length: LEDGERS }, (_, ledger) => ({ ledger, rounds: roundsOf(ledger) })))(
    "ledger $ledger: after $rounds rounds every run is approved, single and accounted for",
    async ({ ledger, rounds }) => {
      const resources = new Resources();
      try {
        const cluster = await Cluster.start(resources, server, seed + ledger);
        const { lives } = cluster;
        await cluster.rounds(rounds, seed + ledger, async () => {
          expect(await lives.check("running"), "after a round").toEqual([]);
        });
        await cluster.end();
        await lives.untilDone({ settle: false });
        expect(await lives.check("rest"), "at rest").toEqual([]);
        await lives.untilDone({ settle: true });
        expect(await lives.check("rest"), "settled").toEqual([]);
        expect(lives.errors.filter((error) => !EXPECTED.test(error))).toEqual([]);
      } finally {
        await resources.release();
      }
    },
    TIMEOUT_MS,
  );
});

function roundsOf(ledger: number): number {
  return Math.min(ROUNDS_PER_LEDGER, ROUNDS - ledger * ROUNDS_PER_LEDGER);
}
