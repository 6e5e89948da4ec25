import { describe, expect, onTestFinished, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { Settlement } from "../decisions/index.ts";
import { watch } from "../testing/execution.ts";
import { approver, HOUR, Payments, SCOPES, type Scope } from "../testing/granting.ts";

const LEASE_MS = 60_000;
const UNDONE: Settlement = { as: "failed", error: "the bank never got it", happened: false };
const STORES = ["memory", "sqlite"] as const;

async function open({ store, scope }: Place) {
  const clock = new ManualClock();
  const file = createDatabaseFile();
  const url = store === "memory" ? "memory:" : file.url;
  const shop = new Payments(await createLedger(url, { clock }), { clock, scope });
  onTestFinished(async () => {
    await shop.engine.close();
    file[Symbol.dispose]();
  });
  return shop;
}

/** A payment under a grant whose outcome is unknown. */
async function lost(shop: Payments, amount = 10) {
  const call = await shop.pay({ amount });
  expect(call).toMatchObject({ status: "allowed" });
  const named = { by: "bot", key: call.key };
  await shop.engine.callers.claim(named, { leaseMs: LEASE_MS });
  await shop.clock.advance(2 * LEASE_MS);
  await shop.engine.work({ once: true });
  expect(await shop.engine.callers.read(named)).toMatchObject({ status: "unknown" });
  return call;
}

async function onlyGrant(shop: Payments) {
  const [grant] = (await shop.engine.grants({ by: approver("ana") })).items;
  return grant;
}

interface Place {
  readonly store: (typeof STORES)[number];
  readonly scope: Scope;
}

const PLACES: readonly Place[] = STORES.flatMap((store) => SCOPES.map((scope) => ({ store, scope })));

describe.each(PLACES)("on $store, under a grant for the $scope, a call that did not happen", (place) => {
  test("gives back its use and its amount, in the commit that says so, and the journal tells", async () => {
    const shop = await open(place);
    const id = await shop.grant({ count: 2 });
    await shop.pay({ amount: 30.5 });
    const call = await lost(shop, 40.25);
    expect(await onlyGrant(shop)).toMatchObject({ status: "used-up", uses: 2, spent: { amount: "70.75" } });
    await shop.engine.settleCall(call.id, UNDONE, { by: approver("ana") });
    const grant = await onlyGrant(shop);
    expect(grant).toMatchObject({ status: "active", uses: 1, spent: { amount: "30.5" }, refunds: 1 });
    expect(await shop.records("grant-refunded")).toEqual([
      { grant: id, call: call.id, tool: "pay", uses: 1, spent: { amount: "30.5" } },
    ]);
    expect(await shop.records("call-settled")).toMatchObject([{ as: "failed", happened: false }]);
    const [stored] = await shop.ledger.calls([call.id]);
    expect(stored?.settled).toMatchObject({ as: "failed", happened: false, refunded: true });
    expect(await shop.pay({ amount: 69.5 })).toMatchObject({ status: "allowed" });
    expect(await shop.pay({ amount: 0.01 })).toMatchObject({ status: "pending" });
    expect(await shop.engine.verify()).toMatchObject({ ok: true });
  });

  test("gives back once, however often and by how many it is settled", async () => {
    const shop = await open(place);
    await shop.grant({ count: 3 });
    await shop.pay({ amount: 20 });
    const call = await lost(shop, 20);
    const settle = (settlement: Settlement, by: string) =>
      shop.engine.settleCall(call.id, settlement, { by: approver(by) });
    const all = [
      settle(UNDONE, "ana"),
      settle(UNDONE, "bob"),
      settle({ as: "failed", error: "no" }, "ana"),
      settle(UNDONE, "ana"),
    ];
    await Promise.allSettled(all);
    expect(await shop.records("call-settled")).toHaveLength(1);
    const refunded = (await shop.records("grant-refunded")).length;
    expect(await onlyGrant(shop)).toMatchObject({ uses: 2 - refunded });
    const [first] = await shop.records("call-settled");
    expect(refunded).toBe(first?.["happened"] === false ? 1 : 0);
  });

  test("gives back nothing where it was settled otherwise, and that stays so", async () => {
    const shop = await open(place);
    await shop.grant({ count: 3 });
    const ways: readonly Settlement[] = [
      { as: "succeeded", result: null },
      { as: "failed", error: "in part" },
    ];
    for (const way of ways) {
      const call = await lost(shop, 7);
      await shop.engine.settleCall(call.id, way, { by: approver("ana") });
      const again = shop.engine.settleCall(call.id, UNDONE, { by: approver("ana") });
      await expect(again).rejects.toMatchObject({ code: "not-settleable" });
    }
    expect(await onlyGrant(shop)).toMatchObject({ uses: 2, spent: { amount: "14" } });
    expect(await shop.records("grant-refunded")).toEqual([]);
  });

  test("gives back nothing to a grant that was revoked or has ended, also if a new one is there", async () => {
    const shop = await open(place);
    const id = await shop.grant({ count: 3 });
    const [one, other] = [await lost(shop, 5), await lost(shop, 6)];
    await shop.engine.revokeGrant(id, { by: approver("ana") });
    await shop.engine.settleCall(one.id, UNDONE, { by: approver("ana") });
    await shop.grant({ count: 1 });
    await shop.clock.advance(HOUR);
    await shop.engine.settleCall(other.id, UNDONE, { by: approver("ana") });
    expect(await shop.records("grant-refunded")).toEqual([]);
    expect(await shop.records("call-settled")).toHaveLength(2);
    const [stored] = await shop.ledger.calls([one.id]);
    expect(stored?.settled).not.toHaveProperty("refunded");
  });

  test("gives back nothing after the ledger was restored", async () => {
    const shop = await open(place);
    await shop.grant({ count: 3 });
    const call = await lost(shop);
    await shop.engine.markRestored({ by: { id: "ops" } });
    await shop.engine.settleCall(call.id, UNDONE, { by: approver("ana") });
    expect(await shop.records("grant-refunded")).toEqual([]);
    expect(await shop.pay()).toMatchObject({ status: "pending" });
  });
});

test("a call without a grant can be settled as not happened", async () => {
  const shop = await open({ store: "memory", scope: "session" });
  const asked = await shop.pay();
  await shop.engine.approve(asked.confirmation?.id ?? "", { by: approver("ana") });
  await shop.engine.callers.claim({ by: "bot", key: asked.key }, { leaseMs: LEASE_MS });
  await shop.clock.advance(2 * LEASE_MS);
  await shop.engine.work({ once: true });
  await shop.engine.settleCall(asked.id, UNDONE, { by: approver("ana") });
  expect(await shop.records("grant-refunded")).toEqual([]);
  expect(await shop.engine.confirmation(asked.confirmation?.id ?? "")).toMatchObject({
    status: "failed",
    settlement: { as: "failed", happened: false },
  });
});

test("whom the grant does not name gives nothing back", async () => {
  const shop = await open({ store: "memory", scope: "session" });
  await shop.grant({ count: 1 });
  const call = await lost(shop);
  for (const by of ["rita", "eve"])
    await expect(shop.engine.settleCall(call.id, UNDONE, { by: approver(by) })).rejects.toMatchObject({
      code: "not-an-approver",
    });
  expect(await onlyGrant(shop)).toMatchObject({ uses: 1 });
});

const DEATHS = (["before", "after"] as const).flatMap((when) =>
  SCOPES.map((scope) => [when, scope] as const),
);

test.each(DEATHS)(
  "a process dies %s the commit that gives back to a grant for the %s",
  async (when, scope) => {
    const file = createDatabaseFile();
    onTestFinished(() => file[Symbol.dispose]());
    const clock = new ManualClock();
    const watched = watch(await createLedger(file.url, { clock }));
    const first = new Payments(watched.ledger, { clock, scope });
    await first.grant({ count: 1 });
    const call = await lost(first);
    const dead = new Promise<void>((resolve) => {
      watched.intercept("commit", async (pass) => {
        if (when === "after") await pass();
        watched.cut();
        resolve();
        return new Promise(() => {});
      });
    });
    first.engine.settleCall(call.id, UNDONE, { by: approver("ana") }).catch(() => {});
    await dead;
    const shop = new Payments(await createLedger(file.url, { clock }), { clock, scope });
    onTestFinished(() => shop.engine.close());
    const done = when === "after" ? 1 : 0;
    expect(await shop.records("call-settled")).toHaveLength(done);
    expect(await shop.records("grant-refunded")).toHaveLength(done);
    expect(await onlyGrant(shop)).toMatchObject({ uses: 1 - done });
    // Sent again, as the person would: it is done once.
    await shop.engine.settleCall(call.id, UNDONE, { by: approver("ana") });
    expect(await shop.records("grant-refunded")).toHaveLength(1);
    expect(await onlyGrant(shop)).toMatchObject({ uses: 0, refunds: 1 });
  },
);

test("with a secret, what a call took cannot be raised in the database", async () => {
  const file = createDatabaseFile();
  const clock = new ManualClock();
  const reopen = async () =>
    new Payments(await createLedger(file.url, { clock }), { clock, secret: "s3cret" });
  const first = await reopen();
  await first.grant({ count: 3 });
  await first.pay({ amount: 50 });
  const call = await lost(first, 10);
  const [stored] = await first.ledger.calls([call.id]);
  await first.engine.close();
  file.editCall(call.id, { grant: { ...stored?.grant, took: { amount: "60" } } });
  const shop = await reopen();
  onTestFinished(async () => {
    await shop.engine.close();
    file[Symbol.dispose]();
  });
  await shop.engine.settleCall(call.id, UNDONE, { by: approver("ana") });
  expect(await shop.records("grant-refunded")).toEqual([]);
  expect(await onlyGrant(shop)).toMatchObject({ uses: 2, spent: { amount: "60" } });
});
