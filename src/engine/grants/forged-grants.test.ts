import { describe, expect, onTestFinished, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { GrantRecord } from "../ledger/index.ts";
import { approver, Payments, SCOPES, type Scope } from "../testing/granting.ts";

const SECRET = "correct horse battery staple";

/** A used-up grant in a file; whatever is changed then meets an engine that has seen nothing. */
async function usedUp(scope: Scope) {
  const file = createDatabaseFile();
  onTestFinished(() => file[Symbol.dispose]());
  const clock = new ManualClock();
  const open = async () =>
    new Payments(await createLedger(file.url, { clock }), { clock, secret: SECRET, scope });
  const first = await open();
  const id = await first.grant({ count: 1 });
  expect(await first.pay()).toMatchObject({ status: "allowed" });
  const [{ grant } = { grant: undefined }] = (await first.ledger.grants()).items;
  if (grant === undefined) throw new Error("no grant");
  await first.engine.close();
  const reopen = async () => {
    const shop = await open();
    onTestFinished(() => shop.engine.close());
    return shop;
  };
  const edit = (change: Partial<GrantRecord>): void =>
    scope === "user" ? file.editSharedGrant(id, change) : file.editGrant(id, change);
  return { file, id, grant, edit, reopen };
}

const edits: readonly (readonly [string, (grant: GrantRecord) => Partial<GrantRecord>])[] = [
  ["more uses", ({ limits }) => ({ limits: { ...limits, count: 9 } })],
  ["its uses taken back", () => ({ uses: 0, spent: {} })],
  ["a later end", ({ endsAt, limits }) => ({ endsAt: endsAt + 1, limits: { ...limits, count: 2 } })],
  ["a larger sum", ({ limits }) => ({ limits: { ...limits, count: 3, sum: { amount: 1_000 } } })],
  ["another agent", () => ({ agent: "buyer", uses: 0 })],
  ["other givers", ({ approvals }) => ({ approvals: [...approvals, ...approvals], uses: 0 })],
  ["other requesters", () => ({ requesters: ["bot", "rita"], uses: 0 })],
];

describe.each(SCOPES)("for the scope %s:", (scope) => {
  test.each(edits)("a grant with %s is not used", async (_what, change) => {
    const { grant, edit, reopen } = await usedUp(scope);
    edit(change(grant));
    const shop = await reopen();
    expect(await shop.pay({ amount: 1 }, { key: "after" })).toMatchObject({ status: "pending" });
    expect(await shop.refusal()).toBe("it has no valid signature");
  });

  test("a grant that is as it was stored is used: the others are refused for their signature", async () => {
    const { reopen } = await usedUp(scope);
    const shop = await reopen();
    expect(await shop.pay({ amount: 1 }, { key: "after" })).toMatchObject({ status: "pending" });
    expect(await shop.refusal()).toBe("all 1 uses are used up");
  });

  test("a waiting call that is made to look like one under a grant does not start", async () => {
    const { file, id, reopen } = await usedUp(scope);
    const before = await reopen();
    const asked = await before.pay({ amount: 1 }, { key: "asked" });
    await before.engine.close();
    file.editConfirmation(asked.confirmation?.id ?? "", "gone");
    file.editCall(asked.id, {
      status: "ready",
      rounds: 0,
      confirmation: null,
      permit: "ungated",
      grant: { id, by: ["ana"] },
    });
    const shop = await reopen();
    const named = { by: "bot", key: "asked" };
    const { claim } = await shop.engine.callers.claim(named, { leaseMs: 60_000 });
    expect(claim).toBeUndefined();
  });

  test("a call that a grant let run does not start if the grant was changed since", async () => {
    const { id, grant, edit, reopen } = await usedUp(scope);
    edit({ endsAt: grant.endsAt + 1 });
    const shop = await reopen();
    const { claim, outcome } = await shop.engine.callers.claim(
      { by: "bot", key: "pay-2" },
      { leaseMs: 60_000 },
    );
    expect(claim).toBeUndefined();
    expect(outcome).toMatchObject({ status: "cancelled", reason: `the grant ${id} has no valid signature` });
  });
});

test("a grant of a session that is copied to another session is not used there, though its signature is right", async () => {
  const { file, reopen } = await usedUp("session");
  const before = await reopen();
  const id = await before.grant({ count: 2 }, "ana", { key: "minted" });
  const elsewhere = await before.pay({ amount: 1 }, { key: "asked", thread: "t2" });
  const { items } = await before.ledger.grants({ where: (one) => one.id === id });
  await before.engine.close();
  for (const { grant } of items) file.plantGrant(grant, elsewhere.confirmation?.id);
  const shop = await reopen();
  expect(await shop.pay({ amount: 2 }, { key: "there", thread: "t2" })).toMatchObject({ status: "pending" });
  expect(await shop.refusal()).toBe("it belongs to another session");
});

/** One with a use left, in a file. */
async function unused() {
  const { file, reopen } = await usedUp("user");
  const shop = await reopen();
  const id = await shop.grant({ count: 2 }, "ana", { key: "minted", thread: "minted" });
  const { items } = await shop.ledger.grants({ where: (one) => one.id === id });
  const [{ grant } = { grant: undefined }] = items;
  if (grant === undefined) throw new Error("no grant");
  return { file, id, grant, shop, reopen };
}

async function pay(shop: Payments, key: string) {
  return shop.pay({ amount: 1 }, { key, thread: key });
}

describe("a grant for all sessions", () => {
  test("is used as it was stored: the others are refused for what was changed", async () => {
    const { shop } = await unused();
    expect(await pay(shop, "after")).toMatchObject({ status: "allowed" });
  });

  test("is none with a later expiry", async () => {
    const { file, id, grant, shop, reopen } = await unused();
    await shop.engine.close();
    file.editSharedGrant(id, { item: { expiresAt: grant.endsAt + 1 } });
    expect(await pay(await reopen(), "after")).toMatchObject({ status: "pending" });
  });

  test("is none with its value from before a use, and what it let run does not start", async () => {
    const { file, id, grant, shop, reopen } = await unused();
    expect(await pay(shop, "first")).toMatchObject({ status: "allowed" });
    await shop.engine.close();
    file.editSharedGrant(id, { ...grant });
    const after = await reopen();
    expect(await pay(after, "second")).toMatchObject({ status: "pending" });
    const { claim } = await after.engine.callers.claim({ by: "bot", key: "first" }, { leaseMs: 60_000 });
    expect(claim).toBeUndefined();
  });

  test("is not kept by a copy under another id, nor by one in a document", async () => {
    const { file, id, grant, shop, reopen } = await unused();
    const ready = await shop.pay({ amount: 1 }, { key: "ready", thread: "minted" });
    expect(ready).toMatchObject({ status: "allowed" });
    await shop.engine.revokeGrant(id, { by: approver("ana") });
    await shop.engine.close();
    file.editSharedGrant(id, { ...grant, revoked: null, item: { id: `${id}x`, version: grant.revision } });
    file.listSharedGrant(`${id}x`);
    file.plantGrant(grant);
    // What says that it was revoked is taken away.
    file.editSharedGrant(id, { item: { expiresAt: 1 } });
    const after = await reopen();
    expect(await pay(after, "elsewhere")).toMatchObject({ status: "pending" });
    const here = await after.pay({ amount: 2 }, { key: "here", thread: "minted" });
    expect(here).toMatchObject({ status: "pending" });
    const { claim } = await after.engine.callers.claim({ by: "bot", key: "ready" }, { leaseMs: 60_000 });
    expect(claim).toBeUndefined();
  });
});
