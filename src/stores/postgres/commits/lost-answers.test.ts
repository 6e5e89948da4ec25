import { expect, test } from "vitest";
import { TcpProxy } from "../../../../test/support/http/tcp-proxy.ts";
import { createDatabase } from "../../../../test/support/postgres/database.ts";
import { useResources } from "../../../../test/support/resources.ts";
import type { Ledger } from "../../../engine/index.ts";
import { buildCall, buildFrame, SessionWriter } from "../../../engine/ledger/contract/build.ts";
import { openPostgresLedger } from "../open.ts";

const resources = useResources();

/** Two handles on one ledger, the first through a proxy. */
async function open(options = ""): Promise<{ ledger: Ledger; direct: Ledger; proxy: TcpProxy }> {
  const url = await createDatabase(resources);
  const proxy = await TcpProxy.to(Number(new URL(url).port));
  resources.add(() => proxy.close());
  const ledger = await openPostgresLedger({ url: `${proxy.through(url)}?pool=1${options}` });
  resources.add(() => ledger.close());
  const direct = await openPostgresLedger({ url });
  resources.add(() => direct.close());
  return { ledger, direct, proxy };
}

test("a commit whose answer was lost is sent again, was done once, and is told so", async () => {
  const { ledger, direct, proxy } = await open();
  const writer = new SessionWriter(ledger, "s1");
  await writer.commit([writer.event("first"), writer.journal("first")]);
  const lost = proxy.loseAnswerTo("claimed");
  const call = buildCall("s1", "c", { status: "executing", attempt: 1, owner: "o" });
  const outcome = await writer.commit([{ kind: "call-insert", call }, writer.journal("claimed")]);
  await lost;
  expect(outcome).toEqual({ ok: true });
  expect((await direct.load({ sessionKey: "s1" }))?.session.version).toBe(2);
  expect(await direct.journal.sessionRecords("s1", { after: 0, limit: 9 })).toHaveLength(2);
});

test("it is told so also when others have gone on with the session since, and also of a session that it made", async () => {
  const { ledger, direct, proxy } = await open();
  const lost = proxy.loseAnswerTo("made");
  const writer = new SessionWriter(ledger, "s1");
  const created = writer.commit([writer.journal("made")]);
  await lost;
  const other = new SessionWriter(direct, "s1");
  other.version = 1;
  // Before or after the first one is sent again: it may have to be repeated until the session is there.
  while (!(await other.commit([other.journal("other")])).ok) await direct.load({ sessionKey: "s1" });
  expect(await created).toEqual({ ok: true });
});

test("a commit that somebody else's came before is refused, although its first answer was lost too", async () => {
  const { ledger, direct, proxy } = await open();
  const writer = new SessionWriter(ledger, "s1");
  await writer.commit([writer.journal("made")]);
  const other = new SessionWriter(direct, "s1");
  other.version = 1;
  // Alike in everything that is stored.
  const [mine, theirs] = [writer.journal("same"), other.journal("same")];
  expect(await other.commit([theirs])).toEqual({ ok: true });
  const lost = proxy.loseAnswerTo("same");
  const outcome = await writer.commit([mine]);
  await lost;
  expect(outcome).toEqual({ ok: false, conflict: "version" });
});

test("a claim whose answer was lost, and in whose session others went on since, is told that it was done", async () => {
  const { ledger, direct, proxy } = await open();
  const writer = new SessionWriter(ledger, "s1");
  await writer.commit([writer.journal("made")]);
  await ledger.owners.beat({ id: "o", host: "h", pid: 1 }, 60_000);
  const lost = proxy.loseAnswerTo("lost-event").then(() => proxy.freeze());
  const frame = buildFrame("s1", "f", { status: "stepping", owner: "o" });
  const claim = writer.toCommit(
    [{ kind: "frame-insert", frame, exclusive: true }, writer.event("lost-event")],
    { owner: "o" },
  );
  const claimed = ledger.commit(claim);
  await lost;
  const other = new SessionWriter(direct, "s1");
  other.version = 2;
  expect(await other.commit([other.journal("other")])).toEqual({ ok: true });
  proxy.thaw();
  expect(await claimed).toEqual({ ok: true });
});

test("connections that are cut, idle or at work, are replaced, and nobody notices", async () => {
  const { ledger, proxy } = await open();
  const writer = new SessionWriter(ledger, "s1");
  for (let round = 0; round < 10; round++) {
    if (round % 2 === 0) proxy.cut();
    const commit = writer.commit([writer.event(`${round}`), writer.journal("noted")]);
    if (round % 3 === 0) proxy.cut();
    expect(await commit).toEqual({ ok: true });
  }
  expect(await ledger.events("s1")).toHaveLength(10);
  expect((await ledger.load({ sessionKey: "s1" }))?.session.version).toBe(10);
});

test("a connection that stays silent is given up, and the statement goes on with another", async () => {
  const { ledger, proxy } = await open("&query_timeout=300");
  const writer = new SessionWriter(ledger, "s1");
  await writer.commit();
  proxy.freeze();
  const dialled = proxy.dialled();
  const commit = writer.commit([writer.journal("noted")]);
  await dialled;
  proxy.thaw();
  expect(await commit).toEqual({ ok: true });
  expect((await ledger.load({ sessionKey: "s1" }))?.session.version).toBe(2);
});

test("a database that lost a commit and made another of the same version is not taken for the one that was read", async () => {
  const { ledger, direct } = await open();
  const writer = new SessionWriter(ledger, "s1");
  await writer.commit([writer.journal("made")]);
  const commit = writer.toCommit([writer.journal("next")], {});
  const knowing = { ...commit, session: { ...commit.session, head: "the hash of what was lost" } };
  expect(await ledger.commit(knowing)).toEqual({ ok: false, conflict: "version" });
  const head = (await direct.load({ sessionKey: "s1" }))?.session.chain.hash ?? "";
  expect(await ledger.commit({ ...commit, session: { ...commit.session, head } })).toEqual({ ok: true });
});
