import { expect, onTestFinished, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { GrantRecord } from "../ledger/index.ts";
import { Payments } from "../testing/granting.ts";

const SECRET = "correct horse battery staple";

/** A used-up grant in a file; whatever is changed then meets an engine that has seen nothing. */
async function usedUp() {
  const file = createDatabaseFile();
  onTestFinished(() => file[Symbol.dispose]());
  const clock = new ManualClock();
  const open = async () => new Payments(await createLedger(file.url, { clock }), { clock, secret: SECRET });
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
  return { file, id, grant, reopen };
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

test.each(edits)("a grant with %s is not used", async (_what, edit) => {
  const { file, id, grant, reopen } = await usedUp();
  file.editGrant(id, edit(grant));
  const shop = await reopen();
  expect(await shop.pay({ amount: 1 }, { key: "after" })).toMatchObject({ status: "pending" });
  expect(await shop.refusal()).toBe("it has no valid signature");
});

test("a grant that is as it was stored is used: the others are refused for their signature", async () => {
  const { reopen } = await usedUp();
  const shop = await reopen();
  expect(await shop.pay({ amount: 1 }, { key: "after" })).toMatchObject({ status: "pending" });
  expect(await shop.refusal()).toBe("all 1 uses are used up");
});

test("a waiting call that is made to look like one under a grant does not start", async () => {
  const { file, id, reopen } = await usedUp();
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
  const { file, id, grant, reopen } = await usedUp();
  file.editGrant(id, { endsAt: grant.endsAt + 1 });
  const shop = await reopen();
  const { claim, outcome } = await shop.engine.callers.claim(
    { by: "bot", key: "pay-2" },
    { leaseMs: 60_000 },
  );
  expect(claim).toBeUndefined();
  expect(outcome).toMatchObject({ status: "cancelled", reason: `the grant ${id} has no valid signature` });
});
