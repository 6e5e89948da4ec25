import { afterEach, beforeEach, expect, test } from "vitest";
import { CountersignError } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { Commit } from "../ledger/commit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { killableEngine, until } from "../testing/execution.ts";
import { setsStatus } from "../testing/forgetful.ts";
import { tryApprove } from "../testing/try-decide.ts";

const ana = { id: "ana" };

let clock: ManualClock;
let ledger: Ledger;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
});

afterEach(async () => {
  await ledger.close();
});

test("a question that a ledger takes late, after an outage, is asked, and its call is not unknown", async () => {
  const { engine, watched } = killableEngine(ledger, clock);
  const ship = engine.gate("ship", {}, async (_args: object, context) => {
    await context.confirm("manager", { hint: "May it be shipped?" });
    return "shipped";
  });
  const asks = setsStatus("call-update", "suspended");
  let tries = 0;
  // It is back each time between two tries of the question: whatever else is written gets through.
  watched.intercept("commit", (pass, [commit]) => {
    if (!asks(commit as Commit) || tries > 20) return pass();
    tries += 1;
    return Promise.reject(new CountersignError("ledger-unreachable", "away"));
  });
  ship({}, { key: "k", by: ana }).catch(() => {});
  for (let second = 0; second < 200; second += 1) {
    await clock.advance(1_000);
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(0);
  }
  expect(tries).toBe(21);
  const [asked] = (await ledger.confirmations({ state: "open" })).items;
  expect(asked?.call).toMatchObject({ status: "suspended" });
  const receipt = await tryApprove(engine, asked?.confirmation.id ?? "", { by: ana });
  await until(clock, () => receipt.ok);
  expect(receipt.ok && (await receipt.finished)).toMatchObject({ status: "succeeded", result: "shipped" });
});
