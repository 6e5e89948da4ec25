import { expect, onTestFinished, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { watch } from "../testing/execution.ts";
import { approver, Payments } from "../testing/granting.ts";

/** Payments in a file; the first process can die around its next commit. */
async function mortal() {
  const file = createDatabaseFile();
  onTestFinished(() => file[Symbol.dispose]());
  const clock = new ManualClock();
  const watched = watch(await createLedger(file.url, { clock }));
  const first = new Payments(watched.ledger, { clock });
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
    const shop = new Payments(await createLedger(file.url, { clock }), { clock });
    onTestFinished(() => shop.engine.close());
    return shop;
  };
  return { first, die, reopen };
}

/** The process that waits for it is dead. */
function abandoned(work: Promise<unknown>): void {
  work.catch(() => {});
}

test.each(["before", "after"] as const)("a process dies %s the commit that mints a grant", async (when) => {
  const { first, die, reopen } = await mortal();
  const { confirmation } = await first.pay();
  const id = confirmation?.id ?? "";
  const dead = die(when);
  abandoned(first.engine.approve(id, { by: approver("ana"), grant: { count: 1 } }));
  await dead;
  const shop = await reopen();
  const minted = when === "after";
  expect(await shop.engine.confirmation(id)).toMatchObject({ status: minted ? "approved" : "requested" });
  expect((await shop.ledger.grants()).items).toHaveLength(minted ? 1 : 0);
  const next = await shop.pay({ amount: 1 }, { key: "next" });
  expect(next.status).toBe(minted ? "allowed" : "pending");
});

test.each(["before", "after"] as const)("a process dies %s the commit that uses a grant", async (when) => {
  const { first, die, reopen } = await mortal();
  await first.grant({ count: 1 });
  const dead = die(when);
  abandoned(first.pay({ amount: 1 }, { key: "used" }));
  await dead;
  const shop = await reopen();
  // The same call asked for again is the same use.
  expect(await shop.pay({ amount: 1 }, { key: "used" })).toMatchObject({ status: "allowed" });
  expect((await shop.ledger.grants()).items).toMatchObject([{ grant: { uses: 1 } }]);
  expect(await shop.pay({ amount: 1 }, { key: "other" })).toMatchObject({ status: "pending" });
  const [claimed, again] = await Promise.all(
    [1, 2].map(() => shop.engine.callers.claim({ by: "bot", key: "used" }, { leaseMs: 60_000 })),
  );
  expect([claimed?.claim, again?.claim].filter((claim) => claim !== undefined)).toHaveLength(1);
});

test.each(["before", "after"] as const)("a process dies %s the commit that revokes a grant", async (when) => {
  const { first, die, reopen } = await mortal();
  const id = await first.grant({ count: 1 });
  const dead = die(when);
  abandoned(first.engine.revokeGrant(id, { by: approver("ana") }));
  await dead;
  const shop = await reopen();
  const next = await shop.pay({ amount: 1 }, { key: "next" });
  expect(next.status).toBe(when === "after" ? "pending" : "allowed");
});
