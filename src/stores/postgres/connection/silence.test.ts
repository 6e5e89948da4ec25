import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { TcpProxy } from "../../../../test/support/http/tcp-proxy.ts";
import { connect, createDatabase } from "../../../../test/support/postgres/database.ts";
import { useResources } from "../../../../test/support/resources.ts";
import { SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { openPostgresLedger } from "../open.ts";

const resources = useResources();
const OUTAGE_MS = 400;
/** What it costs on a machine with nothing else to do is a third of this. */
const MOST_MS = 3_000;
const SESSIONS = Array.from({ length: 12 }, (_, i) => `s${i}`);

async function open(options = "pool=6") {
  const url = await createDatabase(resources);
  const proxy = await TcpProxy.to(Number(new URL(url).port));
  resources.add(() => proxy.close());
  const ledger = await openPostgresLedger({ url: `${proxy.through(url)}?${options}` });
  resources.add(() => ledger.close());
  const writers = SESSIONS.map((key) => new SessionWriter(ledger, key));
  await Promise.all(writers.map((writer) => writer.commit([writer.journal("made")], { sync: true })));
  return { ledger, writers, proxy, url };
}

test("connections that stay silent after a short outage cost about as long as the outage", async () => {
  const { ledger, writers, proxy } = await open();
  proxy.freeze();
  const startedAt = performance.now();
  const outcomes = writers.map((writer, i) => writer.commit([writer.journal("next")], { sync: i % 2 === 0 }));
  // Who begins amid the outage dials into it.
  await setTimeout(OUTAGE_MS / 2);
  const late = SESSIONS.map((sessionKey) => ledger.load({ sessionKey }));
  await setTimeout(OUTAGE_MS / 2);
  proxy.thawForNewOnly();
  expect(await Promise.all(outcomes)).toEqual(writers.map(() => ({ ok: true })));
  await Promise.all(late);
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeLessThan(MOST_MS);
});

test("a statement that waits for a lock is not taken for one on a dead connection", async () => {
  const { ledger, writers, url } = await open();
  const other = await connect(resources, url);
  await other.query("begin; select 1 from countersign.documents where key = 's0' for update");
  const blocked = writers[0]?.commit([writers[0].journal("next")], { sync: true });
  await setTimeout(1_500);
  await other.query("commit");
  expect(await blocked).toEqual({ ok: true });
  expect(ledger.stats().reconnects).toBe(0);
});

test("an answer that arrives right after the server was asked about its connection is not lost", async () => {
  const { ledger, writers, proxy } = await open();
  proxy.holdAnswers();
  const looked = proxy.answered("pg_stat_activity");
  const committed = Promise.all(
    writers.map((writer) => writer.commit([writer.journal("next")], { sync: true })),
  );
  await looked;
  await setTimeout(20);
  proxy.thaw();
  expect(await committed).toEqual(writers.map(() => ({ ok: true })));
  expect(ledger.stats().reconnects).toBe(0);
});

test("whoever listens hears again soon after the connection fell silent", async () => {
  const { ledger, proxy, url } = await open();
  const direct = await openPostgresLedger({ url });
  resources.add(() => direct.close());
  let hearing = Promise.withResolvers<void>();
  ledger.onChange(() => hearing.resolve());
  await setTimeout(100);
  proxy.freeze();
  await setTimeout(OUTAGE_MS);
  proxy.thawForNewOnly();
  await setTimeout(2_500);
  hearing = Promise.withResolvers<void>();
  const startedAt = performance.now();
  const writer = new SessionWriter(direct, "told");
  await writer.commit([writer.journal("made")]);
  await hearing.promise;
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
