import { beforeEach, expect, test } from "vitest";
import { createDatabase, DatabaseClock } from "../../../test/support/postgres/database.ts";
import { execute } from "../../../test/support/postgres/server.ts";
import { useResources } from "../../../test/support/resources.ts";
import type { Ledger } from "../../engine/index.ts";
import { buildCall, SessionWriter } from "../../engine/ledger/contract/build.ts";
import { openPostgresLedger } from "./open.ts";

const LEASE_MS = 15_000;
const OWNER = { id: "o1", host: "alpha", pid: 17 };
const REFUSED = { ok: false, conflict: "history" };

const resources = useResources();
let clock: DatabaseClock;
let url: string;
let ledger: Ledger;
let writer: SessionWriter;

beforeEach(async () => {
  clock = new DatabaseClock();
  url = await createDatabase(resources, clock);
  ledger = await openPostgresLedger({ url });
  resources.add(() => ledger.close());
  writer = new SessionWriter(ledger, "s1");
  // The database is used again by others.
  const [made] = await execute(url, "select pg_get_functiondef('countersign.history'::regproc) as text");
  const text = String((made?.rows as readonly { readonly text: string }[] | undefined)?.[0]?.text);
  resources.add(() => execute(url, text));
});

/** A standby takes the server's place: the same rows, on another time line. */
async function promote(name: string): Promise<void> {
  const text = `create or replace function countersign.history() returns text language sql volatile as 'select ''${name}''::text'`;
  await execute(url, text);
}

test("a ledger is on its server's time line, and the first one lets everybody claim at once", async () => {
  const { id, claimsInMs } = await ledger.owners.history(LEASE_MS);
  expect(id).toMatch(/^\d+\/[0-9A-F]{8}\/[0-9a-f-]{36}$/);
  expect(claimsInMs).toBe(0);
  await ledger.owners.beat({ ...OWNER, history: id }, LEASE_MS);
  expect(await writer.commit([], { owner: "o1" })).toEqual({ ok: true });
});

test("after a promotion nobody claims for one lease, and then only who has confirmed the new history", async () => {
  const before = await ledger.owners.history(LEASE_MS);
  await ledger.owners.beat({ ...OWNER, history: before.id }, LEASE_MS);
  await promote("2");
  expect(await writer.commit([], { owner: "o1" }), "before anybody has noticed").toEqual(REFUSED);
  const after = await ledger.owners.history(LEASE_MS);
  expect(after).toEqual({ id: expect.stringMatching(/^2\/[0-9a-f-]{36}$/) as string, claimsInMs: LEASE_MS });
  await ledger.owners.beat({ ...OWNER, history: after.id }, LEASE_MS);
  expect(await writer.commit([], { owner: "o1" }), "confirmed, within the lease").toEqual(REFUSED);
  expect(await writer.commit(), "what claims nothing").toEqual({ ok: true });
  await clock.advance(LEASE_MS);
  await ledger.owners.beat({ ...OWNER, history: before.id }, LEASE_MS);
  expect(await writer.commit([], { owner: "o1" }), "a lease later, not confirmed").toEqual(REFUSED);
  await ledger.owners.beat({ ...OWNER, history: after.id }, LEASE_MS);
  expect(await writer.commit([], { owner: "o1" }), "a lease later, confirmed").toEqual({ ok: true });
});

test("within that time nobody is fenced: whoever lives can still say so", async () => {
  const call = buildCall("s1", "c", { status: "executing", attempt: 1, owner: "o1" });
  await ledger.owners.beat(OWNER, LEASE_MS);
  await writer.commit([{ kind: "call-insert", call }], { owner: "o1" });
  // The outage takes longer than a lease.
  await clock.advance(2 * LEASE_MS);
  await promote("2");
  expect((await ledger.due([], 10)).lostCalls, "before anybody has noticed").toEqual([]);
  await ledger.owners.history(LEASE_MS);
  expect((await ledger.due([], 10)).lostCalls).toEqual([]);
  await clock.advance(LEASE_MS);
  expect((await ledger.due([], 10)).lostCalls, "it was away for good").toEqual(["s1.c"]);
});

test("a clock that is set back keeps nobody waiting for longer than a lease", async () => {
  await ledger.owners.history(LEASE_MS);
  await promote("2");
  await ledger.owners.history(LEASE_MS);
  await clock.advance(-3_600_000);
  expect((await ledger.owners.history(LEASE_MS)).claimsInMs).toBe(LEASE_MS);
  await clock.advance(LEASE_MS);
  expect((await ledger.owners.history(LEASE_MS)).claimsInMs).toBe(0);
});
