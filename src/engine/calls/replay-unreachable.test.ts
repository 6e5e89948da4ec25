import { afterEach, beforeEach, expect, test } from "vitest";
import { CountersignError } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type KillableEngine, killableEngine, pumped, settle, until } from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";

// `ctx.confirm` while the ledger does not answer.

const ana = { id: "ana" };
const use = { key: "k", by: ana };

let clock: ManualClock;
let ledger: Ledger;
let dying: KillableEngine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  dying = killableEngine(ledger, clock, { storeWithinMs: 1_000 });
});

afterEach(async () => {
  await dying.engine.close();
  await ledger.close();
});

async function stored(): Promise<CallRecord> {
  const snapshot = await ledger.load({ session: { app: "gate:tool", user: "gate", id: "k" } });
  const [call] = await ledger.calls([`${snapshot?.session.key}.k`]);
  if (call === undefined) throw new Error("There is no call.");
  return call;
}

/** Moves time on until the body has been left. */
function untilLeft(): Promise<void> {
  const left = async (): Promise<void> => {
    while ((await stored()).status === "executing") await clock.sleep(1);
  };
  return pumped(clock, left());
}

test("waits for a ledger that is away when the body reads the answer", async () => {
  const call = dying.engine.gate(
    "tool",
    {},
    async (_args, { confirm }) => (await confirm("manager")).payload,
  );
  expect((await call({}, use)).status).toBe("pending");
  let refused = 0;
  const [open] = (await ledger.confirmations({ state: "open" })).items;
  dying.watched.intercept("steps", async (pass) => {
    const steps = await pass();
    dying.watched.intercept("load", (load) => {
      if (refused === 3) return load();
      refused += 1;
      throw new CountersignError("ledger-unreachable", "the server does not answer");
    });
    return steps;
  });
  await tryApprove(dying.engine, open?.confirmation.id ?? "", { by: ana, payload: 2 });
  await untilLeft();
  expect(await stored()).toMatchObject({ status: "succeeded", result: 2 });
  expect(refused).toBe(3);
});

test("waits for the answer longer than anything else waits for the ledger", async () => {
  const call = dying.engine.gate(
    "tool",
    {},
    async (_args, { confirm }) => (await confirm("manager")).payload,
  );
  expect((await call({}, use)).status).toBe("pending");
  const [open] = (await ledger.confirmations({ state: "open" })).items;
  const away = { until: clock.monotonic() + 20_000 };
  dying.watched.intercept("steps", async (pass) => {
    const steps = await pass();
    dying.watched.intercept("load", (load) => {
      if (clock.monotonic() >= away.until) return load();
      throw new CountersignError("ledger-unreachable", "the server does not answer");
    });
    return steps;
  });
  await tryApprove(dying.engine, open?.confirmation.id ?? "", { by: ana, payload: 2 });
  await untilLeft();
  expect(await stored()).toMatchObject({ status: "succeeded", result: 2 });
});

test("does not go on where the call was taken while the ledger was away", async () => {
  let after = 0;
  const call = dying.engine.gate("tool", {}, async (_args, { confirm }) => {
    await confirm("manager");
    after += 1;
    return "done";
  });
  expect((await call({}, use)).status).toBe("pending");
  const [open] = (await ledger.confirmations({ state: "open" })).items;
  let looked = 0;
  dying.watched.intercept("steps", async (pass) => {
    const steps = await pass();
    dying.watched.intercept("load", async (load) => {
      looked += 1;
      const found = (await load()) as { readonly call?: CallRecord } | undefined;
      // As another process shows it that has recovered the call meanwhile.
      return found?.call === undefined
        ? found
        : { ...found, call: { ...found.call, status: "unknown", owner: undefined } };
    });
    return steps;
  });
  await tryApprove(dying.engine, open?.confirmation.id ?? "", { by: ana });
  await until(clock, () => looked > 0);
  await settle(clock);
  expect(after).toBe(0);
});

test("fails where the ledger no longer has the question", async () => {
  const call = dying.engine.gate("tool", {}, async (_args, { confirm }) => {
    await confirm("manager");
    return "done";
  });
  expect((await call({}, use)).status).toBe("pending");
  const [open] = (await ledger.confirmations({ state: "open" })).items;
  dying.watched.intercept("steps", async (pass) => {
    const steps = await pass();
    dying.watched.intercept("load", () => {
      dying.watched.lift("load");
      return Promise.resolve(undefined);
    });
    return steps;
  });
  await tryApprove(dying.engine, open?.confirmation.id ?? "", { by: ana });
  await until(clock, async () => (await stored()).status !== "executing");
  expect(await stored()).toMatchObject({ status: "failed", result: { code: "replay-diverged" } });
});

test.each([{ lost: ["step-started", "step-done"] }, { lost: ["step-done"] }])(
  "a step is not taken again after a question where the ledger lost $lost",
  async ({ lost }) => {
    let shipped = 0;
    const call = dying.engine.gate("tool", {}, async (_args, { step, confirm }) => {
      const parcel = await step("ship", () => {
        shipped += 1;
        return { parcel: shipped };
      });
      await confirm("director");
      return parcel;
    });
    // Acknowledged, and gone: a standby that was behind has taken over.
    dying.watched.intercept("commit", (pass, [commit]) => {
      const text = JSON.stringify(commit);
      return lost.some((kind) => text.includes(kind)) && !text.includes("confirmation-insert")
        ? Promise.resolve({ ok: true })
        : pass();
    });
    expect((await call({}, use)).status).toBe("pending");
    const [open] = (await ledger.confirmations({ state: "open" })).items;
    await tryApprove(dying.engine, open?.confirmation.id ?? "", { by: ana });
    await until(clock, async () => (await stored()).status === "succeeded");
    expect([shipped, (await stored()).result]).toEqual([1, { parcel: 1 }]);
  },
);
