import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { ListPage } from "../../../src/client/index.ts";
import type { Confirmation } from "../../../src/index.ts";
import { type LedgerOverrides, wrapLedger } from "../../support/ledger/ledger-proxy.ts";
import { useResources } from "../../support/resources.ts";
import { type ApprovalsServer, startApprovalsServer } from "./approvals-server.ts";
import { confirmationIn, type FeedMessage, FeedReader } from "./feed-reader.ts";

const resources = useResources();

/** A server whose database loses everything after its first question, and gives the numbers out again. */
interface Loss {
  /** Where people are told. */
  readonly server: ApprovalsServer;
  /** Writes what will be lost. */
  readonly before: ApprovalsServer;
  /** Writes what then has the same numbers. */
  readonly after: ApprovalsServer;
  lose(): void;
}

async function openLoss(overrides: LedgerOverrides = {}): Promise<Loss> {
  const folder = await resources.folder();
  const before = await startApprovalsServer(resources, { ledger: `sqlite:${folder}/before.db` });
  await before.say("ana", "pay 1");
  const database = new DatabaseSync(`${folder}/before.db`, { readOnly: true });
  database.exec(`vacuum into '${folder}/after.db'`);
  database.close();
  const after = await startApprovalsServer(resources, { ledger: `sqlite:${folder}/after.db` });
  const ledgers = [before.engine.ledger, after.engine.ledger] as const;
  let [now] = ledgers;
  const ledger = new Proxy(now, {
    get: (_before, name) => {
      const own: unknown = Reflect.get(now, name, now);
      return typeof own === "function" ? (own.bind(now) as unknown) : own;
    },
  });
  const server = await startApprovalsServer(resources, {
    engine: {
      ledger: wrapLedger(ledger, {
        onChange: (listener) => {
          const stops = ledgers.map((one) => one.onChange(listener));
          return () => {
            for (const stop of stops) stop();
          };
        },
        close: async () => {},
        ...overrides,
      }),
    },
  });
  return {
    server,
    before,
    after,
    lose: () => {
      now = after.engine.ledger;
    },
  };
}

async function follow({ server }: Loss, lastEventId?: string): Promise<FeedReader> {
  const reader = await FeedReader.open(server.app, "ana", lastEventId === undefined ? {} : { lastEventId });
  resources.add(() => reader.close());
  return reader;
}

async function nextAmounts(reader: FeedReader, count: number): Promise<readonly unknown[]> {
  return (await reader.take(count)).map((message) => confirmationIn(message).args["amount"]);
}

function amountsIn(snapshot: FeedMessage | undefined): readonly number[] {
  const page = snapshot?.data as ListPage<Confirmation> | undefined;
  return (page?.items ?? []).map(({ args }) => Number(args["amount"])).toSorted((a, b) => a - b);
}

test("streams end when records that they sent are lost, and a client that reconnects gets the true state", async () => {
  const loss = await openLoss();
  const reader = await follow(loss);
  await reader.next();
  // Two are lost and one is written: its number is below the last that was told.
  for (const amount of [2, 3]) {
    await loss.before.say("ana", `pay ${amount}`);
    expect(confirmationIn(await reader.next()).args["amount"]).toBe(amount);
  }
  loss.lose();
  await loss.after.say("ana", "pay 4");
  expect(await reader.next()).toBeUndefined();
  const back = await follow(loss, reader.lastId);
  const [reset, snapshot] = await back.take(2);
  expect(reset).toMatchObject({ event: "reset", data: { reason: "from-elsewhere" } });
  expect(amountsIn(snapshot)).toEqual([1, 4]);
  await loss.after.say("ana", "pay 5");
  expect(confirmationIn(await back.next()).args["amount"]).toBe(5);
});

test("streams end also where every lost number is another record's already", async () => {
  const loss = await openLoss();
  const reader = await follow(loss);
  await reader.next();
  await loss.before.say("ana", "pay 2");
  await reader.next();
  loss.lose();
  await loss.after.say("ana", "pay 3");
  expect(await reader.next()).toBeUndefined();
});

test("a client that was away while its last record was lost does not go on from another's", async () => {
  const loss = await openLoss();
  const reader = await follow(loss);
  await reader.next();
  await loss.before.say("ana", "pay 2");
  await reader.next();
  await reader.close();
  loss.lose();
  for (const amount of [3, 4]) await loss.after.say("ana", `pay ${amount}`);
  const [reset, snapshot] = await (await follow(loss, reader.lastId)).take(2);
  expect(reset).toMatchObject({ event: "reset", data: { reason: "from-elsewhere" } });
  expect(amountsIn(snapshot)).toEqual([1, 3, 4]);
});

test("a client whose last record is still there continues from it, and gets nothing twice", async () => {
  const loss = await openLoss();
  const reader = await follow(loss);
  await reader.next();
  await loss.before.say("bob", "pay 2");
  loss.lose();
  await loss.after.say("ana", "pay 3");
  const back = await follow(loss, reader.lastId);
  expect(confirmationIn(await back.next()).args["amount"]).toBe(3);
});

test("records that a store withholds for a moment are not a loss, and are not left out", async () => {
  const held = { at: Number.POSITIVE_INFINITY, reads: 0 };
  const loss = await openLoss({
    journal: {
      records: async (range) => {
        const records = await loss.before.engine.ledger.journal.records(range);
        const shown = records.filter(({ seq }) => seq < held.at);
        if (shown.length < records.length) held.reads += 1;
        return shown;
      },
    },
  });
  const reader = await follow(loss);
  const firstId = (await reader.next())?.id ?? "";
  for (const amount of [2, 3]) await loss.before.say("ana", `pay ${amount}`);
  await reader.take(2);
  const newest = (await loss.before.engine.ledger.journal.records({ after: 0, limit: 100 })).at(-1)?.seq ?? 0;
  // The newest that was told is held back, and whoever catches up sees nothing beyond its own place.
  held.at = newest - 1;
  await loss.before.say("ana", "pay 4");
  const late = await follow(loss, firstId);
  await expect.poll(() => held.reads, { timeout: 20_000 }).toBeGreaterThan(2);
  held.at = Number.POSITIVE_INFINITY;
  await loss.before.say("ana", "pay 5");
  expect(await nextAmounts(late, 4)).toEqual([2, 3, 4, 5]);
  expect(await nextAmounts(reader, 2)).toEqual([4, 5]);
});
