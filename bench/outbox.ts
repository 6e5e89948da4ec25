import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { type Channel, startDeliveries } from "../src/channels/index.ts";
import {
  DEFAULT_DELIVERY_SETTINGS,
  Engine,
  type Ledger,
  OutboxWorker,
  systemClock,
  type Told,
} from "../src/engine/index.ts";
import { createLedger } from "../src/stores/index.ts";
import { databaseName, execute, PostgresServer } from "../test/support/postgres/server.ts";
import { costBetween, serverCost } from "./load/server-cost.ts";
import type { Options } from "./options.ts";
import { emptyLedger } from "./postgres.ts";
import type { Report } from "./report.ts";
import { median, pairedRatio } from "./statistics.ts";

const WORKERS = 4;
const AT_ONCE = 16;
const QUEUE = "notices";
/** How many questions are asked at once, before anything is measured. */
const ASKED_AT_ONCE = 50;

/** The part of pg-boss that is used; it is installed by the peers' own package. */
interface Boss {
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
  createQueue(name: string): Promise<unknown>;
  insert(name: string, jobs: readonly { readonly data: object }[]): Promise<unknown>;
  fetch(name: string, options: { readonly batchSize: number }): Promise<readonly { readonly id: string }[]>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
  on(event: "error", listener: () => void): void;
}

/** How many messages a second several workers handle: our outbox beside pg-boss, in turn, on one PostgreSQL. */
export async function measureOutbox(options: Options, folder: string, report: Report): Promise<void> {
  const claim = `the outbox with ${WORKERS} workers is as fast as pg-boss`;
  const load = await findBoss();
  if (load === undefined) {
    report.goal(claim, "pg-boss is not installed: npm run bench:peers:install", "not shown");
    return;
  }
  const count = options.quick ? 500 : 2_000;
  const rounds = options.quick ? 3 : 7;
  const server = await PostgresServer.start([], folder);
  const ways: { readonly [name: string]: () => Promise<Used> } = {
    "outbox, empty messages": () => ownUse(server, count, startWorkers),
    "outbox, notices of questions": () => ownUse(server, count, startNotices),
    "pg-boss, each job completed by itself": () => bossUse(load, server, { count, ends: 1 }),
    "pg-boss, 16 jobs completed at once": () => bossUse(load, server, { count, ends: AT_ONCE }),
  };
  const used = new Map(Object.keys(ways).map((name) => [name, [] as Used[]]));
  try {
    for (let round = 0; round < rounds; round += 1)
      for (const [name, measure] of Object.entries(ways)) {
        const one = await measure();
        used.get(name)?.push(one);
        report.progress(`outbox: round ${round + 1} of ${rounds}: ${name}: ${Math.round(one.rate)} a second`);
      }
  } finally {
    await server.stop();
  }
  reportUse(report, { claim, used, count });
}

/** What handling messages took. */
interface Used {
  /** A second. */
  readonly rate: number;
  /** Of our process and of the server, in milliseconds for each message. */
  readonly cpu: number;
  readonly transactions: number;
}

function reportUse(
  report: Report,
  {
    claim,
    used,
    count,
  }: { readonly claim: string; readonly used: ReadonlyMap<string, readonly Used[]>; readonly count: number },
): void {
  const [empty = [], , single = [], batches = []] = [...used.values()];
  const rates = (all: readonly Used[]): readonly number[] => all.map(({ rate }) => rate);
  const cpu = (all: readonly Used[]): readonly number[] => all.map((one) => one.cpu);
  // The same on both sides: nothing is read for a message, and each ends by itself.
  const ratio = pairedRatio(rates(empty), rates(single));
  report.goal(claim, ratio.toFixed(2), ratio >= 1 ? "met" : "missed");
  report.table(
    `Outbox on PostgreSQL, ${count} messages, ${WORKERS} workers`,
    [
      "what",
      "messages a second",
      "of pg-boss",
      "of pg-boss, 16 at once",
      "CPU ms",
      "of pg-boss",
      "transactions",
    ],
    [...used].map(([name, found]) => [
      name,
      Math.round(median(rates(found))).toLocaleString("en"),
      pairedRatio(rates(found), rates(single)).toFixed(2),
      pairedRatio(rates(found), rates(batches)).toFixed(2),
      median(cpu(found)).toFixed(2),
      pairedRatio(cpu(found), cpu(single)).toFixed(2),
      median(found.map(({ transactions }) => transactions)).toFixed(2),
    ]),
  );
}

/** Call it when the work begins, and what it returns when all is done. */
async function beginUse(server: PostgresServer): Promise<(count: number) => Promise<Used>> {
  const url = server.url("postgres");
  const before = await serverCost(url);
  const own = process.cpuUsage();
  const began = performance.now();
  return async (count) => {
    const seconds = (performance.now() - began) / 1_000;
    const { user, system } = process.cpuUsage(own);
    const cost = costBetween(before, await serverCost(url));
    return {
      rate: count / seconds,
      cpu: ((cost.seconds ?? Number.NaN) * 1_000 + (user + system) / 1_000) / count,
      transactions: cost.transactions / count,
    };
  };
}

type MakeBoss = (url: string) => Boss;

async function findBoss(): Promise<MakeBoss | undefined> {
  try {
    const path = createRequire(new URL("./peers/package.json", import.meta.url)).resolve("pg-boss");
    const { PgBoss } = (await import(pathToFileURL(path).href)) as {
      readonly PgBoss: new (url: string) => Boss;
    };
    return (url) => new PgBoss(url);
  } catch {
    return undefined;
  }
}

type StartAll = (
  ledgers: readonly Ledger[],
  told: (id: string) => Told,
) => readonly { stop(): Promise<void> }[];

/** Messages of which nothing is read: the outbox alone. */
function startWorkers(ledgers: readonly Ledger[], told: (id: string) => Told): ReturnType<StartAll> {
  return ledgers.map(
    (ledger) =>
      new OutboxWorker({
        ledger,
        queue: { name: QUEUE, wants: ({ kind }) => kind === "confirmation-requested" },
        clock: systemClock,
        settings: { ...DEFAULT_DELIVERY_SETTINGS, concurrency: AT_ONCE },
        sender:
          () =>
          async ({ seq }) =>
            told(String(seq)),
        onFailure: () => {},
        onError: () => {},
      }),
  );
}

/** As channels get them: with the record, the question as it is now, and who votes for whom. */
function startNotices(ledgers: readonly Ledger[], told: (id: string) => Told): ReturnType<StartAll> {
  const channel: Channel = { name: QUEUE, tell: async ({ id }) => told(id) };
  return ledgers.map((ledger) => startDeliveries({ ledger, channels: [channel], concurrency: AT_ONCE }));
}

/** From the journal into the outbox, and from there to somebody who answers at once. */
async function ownUse(server: PostgresServer, count: number, start: StartAll): Promise<Used> {
  const url = await emptyLedger(server);
  const ledgers = await Promise.all(Array.from({ length: WORKERS }, () => createLedger(url)));
  const [first] = ledgers;
  if (first === undefined) throw new Error("There is one.");
  try {
    await first.outbox.channelPlace(QUEUE);
    const engine = new Engine({ ledger: first });
    const gated = engine.gate("pay", { requireConfirmation: true }, async () => 1);
    for (let from = 0; from < count; from += ASKED_AT_ONCE) {
      const keys = Array.from({ length: ASKED_AT_ONCE }, (_, n) => `k${from + n}`);
      await Promise.all(keys.map((key) => gated({}, { key, by: { id: "ana" } })));
    }
    const ids = new Set<string>();
    const done = Promise.withResolvers<void>();
    const end = await beginUse(server);
    const running = start(ledgers, (id) => {
      ids.add(id);
      if (ids.size === count) done.resolve();
      return { ok: true };
    });
    await done.promise;
    while ((await first.outbox.nextDeliveryAt(QUEUE)) !== undefined)
      await new Promise((resolve) => setImmediate(resolve));
    const used = await end(count);
    await Promise.all(running.map((each) => each.stop()));
    return used;
  } finally {
    await Promise.all(ledgers.map((ledger) => ledger.close()));
  }
}

/** Without its polling interval: workers fetch and complete in a loop. Filling the queue counts, as it does for ours. */
async function bossUse(
  make: MakeBoss,
  server: PostgresServer,
  { count, ends }: { readonly count: number; readonly ends: number },
): Promise<Used> {
  const name = databaseName();
  await execute(server.url("postgres"), `create database ${name}`);
  const bosses = Array.from({ length: WORKERS }, () => make(server.url(name)));
  const [first] = bosses;
  if (first === undefined) throw new Error("There is one.");
  for (const boss of bosses) {
    boss.on("error", () => {});
    await boss.start();
  }
  try {
    await first.createQueue(QUEUE);
    const end = await beginUse(server);
    await first.insert(
      QUEUE,
      Array.from({ length: count }, (_, n) => ({ data: { seq: n } })),
    );
    let left = count;
    const work = async (boss: Boss): Promise<void> => {
      while (left > 0) {
        const jobs = await boss.fetch(QUEUE, { batchSize: AT_ONCE });
        if (jobs.length === 0) return;
        const ids = jobs.map(({ id }) => id);
        const batches = Array.from({ length: Math.ceil(ids.length / ends) }, (_, n) =>
          ids.slice(n * ends, (n + 1) * ends),
        );
        await Promise.all(batches.map((batch) => boss.complete(QUEUE, batch)));
        left -= jobs.length;
      }
    };
    await Promise.all(bosses.map(work));
    return await end(count);
  } finally {
    for (const boss of bosses) await boss.stop({ graceful: false });
  }
}
