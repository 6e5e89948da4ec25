import { join } from "node:path";
import { expect, test } from "vitest";
import { useResources } from "../../../test/support/resources.ts";
import { createLedger } from "../../stores/index.ts";
import { Engine } from "../engine.ts";
import { resumeLedger, suspendLedger } from "../ledger/index.ts";

const resources = useResources();
const ana = { id: "ana" };

/** A file, an engine on it that runs what is approved, and another handle that suspends it. */
async function open() {
  const url = `sqlite:${join(await resources.folder(), "ledger.db")}`;
  const engine = new Engine({ ledger: await createLedger(url) });
  const operator = await createLedger(url);
  resources.add(() => engine.close());
  resources.add(() => operator.close());
  return { engine, items: operator.items };
}

const SUSPENDED = { code: "suspended", message: expect.stringContaining("suspended") as unknown };

test("nothing approved starts while a ledger is suspended; it starts once it is resumed", async () => {
  const { engine, items } = await open();
  let runs = 0;
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => {
    runs += 1;
    return runs;
  });
  const asked = await pay({}, { key: "k", by: ana });
  if (asked.status !== "pending") throw new Error(asked.status);
  await suspendLedger(items, {});
  await expect(engine.approve(asked.confirmation.id, { by: ana })).rejects.toMatchObject(SUSPENDED);
  await engine.work({ once: true });
  expect([runs, (await engine.confirmation(asked.confirmation.id)).status]).toEqual([0, "requested"]);
  await resumeLedger(items);
  const { finished } = await engine.approve(asked.confirmation.id, { by: ana });
  expect(await finished).toMatchObject({ status: "succeeded", result: 1 });
});

test("what was approved elsewhere and is ready is left alone until it is resumed, and runs once", async () => {
  const { engine, items } = await open();
  let runs = 0;
  const pay = engine.gate("pay", { requireConfirmation: true }, async () => {
    runs += 1;
    return runs;
  });
  const asked = await pay({}, { key: "k", by: ana });
  if (asked.status !== "pending") throw new Error(asked.status);
  const inbox = new Engine({ ledger: engine.ledger });
  await inbox.approve(asked.confirmation.id, { by: ana });
  await suspendLedger(items, {});
  await engine.work({ once: true });
  expect([runs, (await engine.confirmation(asked.confirmation.id)).status]).toEqual([0, "approved"]);
  await resumeLedger(items);
  await engine.work({ once: true });
  expect([runs, (await engine.confirmation(asked.confirmation.id)).status]).toEqual([1, "succeeded"]);
});

test("a call that runs when it is suspended ends, and its result is stored; a new one is refused", async () => {
  const { engine, items } = await open();
  const [started, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const slow = engine.gate("slow", {}, () => {
    started.resolve();
    return answered.promise;
  });
  const outcome = slow({}, { key: "k", by: ana });
  await started.promise;
  await suspendLedger(items, {});
  answered.resolve("done");
  expect(await outcome).toMatchObject({ status: "succeeded", result: "done" });
  await expect(slow({}, { key: "other", by: ana })).rejects.toMatchObject(SUSPENDED);
});

test("a caller that runs its calls itself gets no claim", async () => {
  const { engine, items } = await open();
  await suspendLedger(items, {});
  const ask = {
    app: "shop",
    tool: "refund",
    args: {},
    key: "k1",
    by: { id: "bot" },
    requireConfirmation: false,
  };
  expect(await engine.callers.propose(ask)).toMatchObject({ status: "allowed" });
  const claim = engine.callers.claim({ key: "k1", by: "bot" }, { leaseMs: 1_000 });
  await expect(claim).rejects.toMatchObject(SUSPENDED);
});
