import { expect, test } from "vitest";
import { wrapLedger } from "../../../test/support/ledger/ledger-proxy.ts";
import { useResources } from "../../../test/support/resources.ts";
import { createLedger } from "../../stores/index.ts";
import { SessionWriter } from "../ledger/contract/build.ts";
import type { Ledger } from "../ledger/index.ts";
import { OutboxReader } from "./outbox-reader.ts";

const resources = useResources();
const CHANNEL = "webhook";
const NEWS = "confirmation-requested";
const queue = { name: CHANNEL, wants: ({ kind }: { readonly kind: string }) => kind === NEWS };

async function open(): Promise<Ledger> {
  const ledger = await createLedger("memory:");
  resources.add(() => ledger.close());
  await ledger.outbox.channelPlace(CHANNEL);
  return ledger;
}

async function write(ledger: Ledger, session: string, ...kinds: readonly string[]): Promise<void> {
  const writer = new SessionWriter(ledger, session);
  await writer.commit(kinds.map((kind) => writer.journal(kind)));
}

/** The sessions whose news are due. */
async function dueIn(ledger: Ledger): Promise<readonly string[]> {
  const due = await ledger.outbox.takeDeliveries(CHANNEL, { limit: 100, holdMs: 60_000 });
  const records = await ledger.journal.records({ after: 0, limit: 100 });
  return due.map((delivery) => {
    const record = records.find(({ seq }) => seq === delivery.seq);
    return `${record?.kind} of ${record?.stream}`;
  });
}

test("puts what is to be told into the outbox, once, however many read", async () => {
  const ledger = await open();
  const readers = [1, 2, 3].map(() => new OutboxReader(ledger, queue));
  await write(ledger, "s1", "one", NEWS, "two");
  await Promise.all(readers.map((reader) => reader.enqueueNew()));
  expect(await dueIn(ledger)).toEqual([`${NEWS} of s1`]);
  await write(ledger, "s2", "three");
  await Promise.all(readers.map((reader) => reader.enqueueNew()));
  await write(ledger, "s3", NEWS);
  for (const reader of readers) await reader.enqueueNew();
  expect(await dueIn(ledger)).toEqual([`${NEWS} of s3`]);
});

test("looks again with one statement where nothing is new", async () => {
  const ledger = await open();
  await write(ledger, "s1", NEWS, "one");
  const asked: string[] = [];
  const watched = wrapLedger(ledger, {
    outbox: {
      channelPlace: (channel) => {
        asked.push("place");
        return ledger.outbox.channelPlace(channel);
      },
    },
    journal: {
      records: (range) => {
        asked.push("journal");
        return ledger.journal.records(range);
      },
    },
  });
  const reader = new OutboxReader(watched, queue);
  await reader.enqueueNew();
  expect(asked).toEqual(["place", "journal"]);
  await reader.enqueueNew();
  expect(asked).toEqual(["place", "journal", "journal"]);
});

test("a database that lost its last records and gave their numbers to others is read anew", async () => {
  const [before, after] = [await open(), await open()];
  await write(before, "s1", "one", "two");
  await write(after, "s1", "one");
  await write(after, "s2", NEWS);
  let ledger = before;
  const reader = new OutboxReader(
    wrapLedger(before, {
      journal: { records: (range) => ledger.journal.records(range) },
      outbox: {
        channelPlace: (channel) => ledger.outbox.channelPlace(channel),
        enqueue: (batch) => ledger.outbox.enqueue(batch),
      },
    }),
    queue,
  );
  await reader.enqueueNew();
  ledger = after;
  await reader.enqueueNew();
  expect(await dueIn(after)).toEqual([`${NEWS} of s2`]);
});
