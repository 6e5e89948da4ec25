import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { TcpProxy } from "../../../../test/support/http/tcp-proxy.ts";
import { connect, createDatabase } from "../../../../test/support/postgres/database.ts";
import { useResources } from "../../../../test/support/resources.ts";
import { SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { openPostgresLedger } from "../open.ts";

const resources = useResources();
const SESSIONS = Array.from({ length: 20 }, (_, i) => `s${i}`);

type Opened = Awaited<ReturnType<typeof openPostgresLedger>>;

async function open(url: string, options = "pool=3"): Promise<Opened> {
  const ledger = await openPostgresLedger({ url: `${url}?${options}` });
  resources.add(() => ledger.close());
  return ledger;
}

/** Writers whose sessions are there. */
async function makeSessions(ledger: Opened): Promise<readonly SessionWriter[]> {
  const writers = SESSIONS.map((key) => new SessionWriter(ledger, key));
  await Promise.all(writers.map((writer) => writer.commit([writer.journal("made")])));
  return writers;
}

function poolOf(ledger: Opened): ReturnType<Opened["stats"]>["pool"] {
  const { pool } = ledger.stats();
  if (pool === undefined) throw new Error("there is no pool");
  return pool;
}

test("many small statements at once share a connection, and each gets its own answer", async () => {
  const ledger = await open(await createDatabase(resources), "pool=5");
  await makeSessions(ledger);
  const loaded = await Promise.all(SESSIONS.map((sessionKey) => ledger.load({ sessionKey })));
  expect(loaded.map((snapshot) => snapshot?.session.key)).toEqual(SESSIONS);
  // One is for those who wait for the disk, and may be for those who are told of changes.
  expect(poolOf(ledger).open).toBeLessThanOrEqual(2);
  expect(poolOf(ledger).waiting).toBe(0);
});

test("a pool of one is enough for everything", async () => {
  const ledger = await open(await createDatabase(resources), "pool=1");
  const writers = await makeSessions(ledger);
  const both = writers.flatMap((writer) => [
    writer.commit([writer.journal("decided")], { sync: true }),
    ledger.load({ sessionKey: writer.key }),
  ]);
  expect(await Promise.all(both)).toHaveLength(2 * SESSIONS.length);
  expect(poolOf(ledger).open).toBe(1);
});

test("a statement that waits for a lock holds up none but those that were sent behind it", async () => {
  const url = await createDatabase(resources);
  const ledger = await open(url, "pool=6");
  const [writer] = await makeSessions(ledger);
  const other = await connect(resources, url);
  await other.query("begin; select 1 from countersign.documents where key = 's0' for update");
  const blocked = writer?.commit([writer.journal("waited")]);
  // Those that are sent at once wait with it, until it has been silent for too long to be given more.
  const loads = Array.from({ length: 10 }, async (_, i) => {
    await setTimeout(50 * i);
    return ledger.load({ sessionKey: "s1" });
  });
  expect((await Promise.race(loads))?.session.key).toBe("s1");
  expect(ledger.stats().retries).toBe(0);
  await other.query("commit");
  expect(await blocked).toEqual({ ok: true });
  await Promise.all(loads);
});

test("of commits on one connection that is cut each is done once, and told so", async () => {
  const url = await createDatabase(resources);
  const proxy = await TcpProxy.to(Number(new URL(url).port));
  resources.add(() => proxy.close());
  const ledger = await open(proxy.through(url));
  const writers = await makeSessions(ledger);
  for (let round = 0; round < 5; round++) {
    const lost = proxy.loseAnswerTo(`round-${round}`);
    const commits = writers.map((writer) => writer.commit([writer.journal(`round-${round}`)]));
    await lost;
    expect(await Promise.all(commits)).toEqual(writers.map(() => ({ ok: true })));
  }
  for (const key of SESSIONS) {
    const kinds = (await ledger.journal.sessionRecords(key, { after: 0, limit: 99 })).map(({ kind }) => kind);
    expect(kinds).toEqual(["made", ...Array.from({ length: 5 }, (_, round) => `round-${round}`)]);
  }
});

test("statements behind one that could not be prepared are sent again", async () => {
  const url = await createDatabase(resources);
  await makeSessions(await open(url));
  const ledger = await open(url, "pool=3");
  const other = await connect(resources, url);
  await other.query("begin; lock table countersign.documents in access exclusive mode");
  const loads = SESSIONS.map((sessionKey) => ledger.load({ sessionKey }));
  const { retries } = ledger.stats();
  while (ledger.stats().retries === retries) await setTimeout(10);
  await other.query("commit");
  expect((await Promise.all(loads)).map((snapshot) => snapshot?.session.key)).toEqual(SESSIONS);
});
