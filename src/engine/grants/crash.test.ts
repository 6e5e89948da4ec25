import { expect, onTestFinished, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { watch } from "../testing/execution.ts";
import { approver, Payments, SCOPES, type Scope } from "../testing/granting.ts";

const CASES = (["before", "after"] as const).flatMap((when) => SCOPES.map((scope) => [when, scope] as const));

/** Payments in a file; the first process can die around its next commit. */
async function mortal(scope: Scope) {
  const file = createDatabaseFile();
  onTestFinished(() => file[Symbol.dispose]());
  const clock = new ManualClock();
  const watched = watch(await createLedger(file.url, { clock }));
  const first = new Payments(watched.ledger, { clock, scope });
  const die = (when: "before" | "after"): Promise<void> =>
    new Promise((resolve) => {
      watched.intercept("commit", async (pass) => {
        if (when === "after") await pass();
        watched.cut();
        resolve();
        return new Promise(() => {});
      });
    });
  const reopen = async () => {
    const shop = new Payments(await createLedger(file.url, { clock }), { clock, scope });
    onTestFinished(() => shop.engine.close());
    return shop;
  };
  return { first, die, reopen };
}

/** The process that waits for it is dead. */
function abandoned(work: Promise<unknown>): void {
  work.catch(() => {});
}

test.each(CASES)("a process dies %s the commit that mints a grant for the %s", async (when, scope) => {
  const { first, die, reopen } = await mortal(scope);
  const { confirmation } = await first.pay();
  const id = confirmation?.id ?? "";
  const dead = die(when);
  abandoned(first.engine.approve(id, { by: approver("ana"), grant: { scope, count: 1 } }));
  await dead;
  const shop = await reopen();
  const minted = when === "after";
  expect(await shop.engine.confirmation(id)).toMatchObject({ status: minted ? "approved" : "requested" });
  expect((await shop.ledger.grants()).items).toHaveLength(minted ? 1 : 0);
  const next = await shop.pay({ amount: 1 }, { key: "next" });
  expect(next.status).toBe(minted ? "allowed" : "pending");
});

test.each(CASES)("a process dies %s the commit that uses a grant for the %s", async (when, scope) => {
  const { first, die, reopen } = await mortal(scope);
  await first.grant({ count: 1 });
  const thread = scope === "user" ? "another" : "t1";
  const dead = die(when);
  abandoned(first.pay({ amount: 1 }, { key: "used", thread }));
  await dead;
  const shop = await reopen();
  // The same call asked for again is the same use.
  expect(await shop.pay({ amount: 1 }, { key: "used", thread })).toMatchObject({ status: "allowed" });
  expect((await shop.ledger.grants()).items).toMatchObject([{ grant: { uses: 1 } }]);
  expect(await shop.pay({ amount: 1 }, { key: "other" })).toMatchObject({ status: "pending" });
  const [claimed, again] = await Promise.all(
    [1, 2].map(() => shop.engine.callers.claim({ by: "bot", key: "used" }, { leaseMs: 60_000 })),
  );
  expect([claimed?.claim, again?.claim].filter((claim) => claim !== undefined)).toHaveLength(1);
});

test.each(CASES)("a process dies %s the commit that revokes a grant for the %s", async (when, scope) => {
  const { first, die, reopen } = await mortal(scope);
  const id = await first.grant({ count: 1 });
  const dead = die(when);
  abandoned(first.engine.revokeGrant(id, { by: approver("ana") }));
  await dead;
  const shop = await reopen();
  const next = await shop.pay({ amount: 1 }, { key: "next" });
  expect(next.status).toBe(when === "after" ? "pending" : "allowed");
});
