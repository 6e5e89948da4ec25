import { expect, test, vi } from "vitest";
import { Engine, ManualClock } from "../../engine/index.ts";
import { createLedger } from "../../index.ts";
import { Backtest, type BacktestReport, type PastCall, parsePolicy } from "../../policy/index.ts";
import { pastCalls } from "./past-calls.ts";

const boss = { id: "boss", scopes: ["decide"], authenticated: true, kind: "token" } as const;
const ana = { id: "ana", scopes: ["decide"], authenticated: true, kind: "token" } as const;

const OLD = `
rules:
  - { id: big, match: { tool: pay }, when: args.amount > 100.0, then: confirm, require: [{ from: "user:boss" }] }
  - { id: never, match: { tool: pay }, when: args.to == "mallory", then: deny }
`;

async function history() {
  const clock = new ManualClock();
  const ledger = await createLedger("memory:", { clock });
  const engine = new Engine({ ledger, clock, policy: parsePolicy("old", OLD) });
  const pay = engine.gate("pay", {}, async () => "paid");
  const wipe = engine.gate("wipe", { requireConfirmation: true }, async () => "wiped");
  let key = 0;
  const call = (amount: number, to = "zoe") => pay({ amount, to }, { key: `k${key++}`, by: ana });
  const decide = async (amount: number, confirmed: boolean) => {
    const outcome = await call(amount);
    if (outcome.status !== "pending") throw new Error(outcome.status);
    if (confirmed) await engine.approve(outcome.confirmation.id, { by: boss });
    else await engine.deny(outcome.confirmation.id, { by: boss });
    return outcome.confirmation.id;
  };
  return { clock, ledger, engine, call, decide, wipe };
}

async function replay(
  fixture: Awaited<ReturnType<typeof history>>,
  text: string,
  since = 0,
): Promise<BacktestReport> {
  const backtest = new Backtest(parsePolicy("new", text));
  for await (const past of pastCalls(fixture.ledger, { since })) backtest.add(past);
  return backtest.report();
}

test("a looser policy is told what people denied of what it would no longer ask", async () => {
  const fixture = await history();
  await fixture.call(5);
  await fixture.call(5, "mallory");
  await fixture.decide(200, true);
  const denied = await fixture.decide(300, false);
  await fixture.decide(5000, true);
  await fixture.wipe({}, { key: "w", by: ana });
  const report = await replay(
    fixture,
    `rules: [{ id: big, match: { tool: pay }, when: args.amount > 1000.0, then: confirm }]`,
  );
  expect(report).toMatchObject({
    calls: 6,
    stopsAsking: { count: 2, approved: 1, denied: 1, examples: [denied] },
    newlyAsks: { count: 0 },
    newlyDenies: { count: 0 },
    stopsDenying: { count: 1 },
  });
  await fixture.engine.close();
});

test("a stricter policy is told what it would newly ask and deny; what is older is left out", async () => {
  const fixture = await history();
  await fixture.call(50);
  await fixture.clock.advance(60_000);
  const since = fixture.ledger.now;
  await fixture.call(60);
  await fixture.decide(5000, true);
  const text = `
rules:
  - { id: small, match: { tool: pay }, when: args.amount > 10.0, then: confirm }
  - { id: huge, match: { tool: pay }, when: args.amount > 1000.0, then: deny }
`;
  expect(await replay(fixture, text)).toMatchObject({
    calls: 3,
    newlyAsks: { count: 2 },
    newlyDenies: { count: 1, approved: 1 },
    stopsAsking: { count: 0 },
  });
  expect(await replay(fixture, text, since)).toMatchObject({ calls: 2, newlyAsks: { count: 1 } });
  await fixture.engine.close();
});

test("what is older than asked for is not read, and an aborted reading ends", async () => {
  const fixture = await history();
  for (let i = 0; i < 250; i++) await fixture.call(5);
  await fixture.clock.advance(60_000);
  const since = fixture.ledger.now;
  for (let i = 0; i < 3; i++) await fixture.call(5);
  const { journal } = fixture.ledger;
  const rows = vi.spyOn(journal, "rows");
  const calls: PastCall[] = [];
  for await (const past of pastCalls(fixture.ledger, { since })) calls.push(past);
  expect(calls).toHaveLength(3);
  const asked = rows.mock.calls.map(([{ until = 0 }]) => until);
  expect(Math.min(...asked)).toBeGreaterThan(200);
  const controller = new AbortController();
  const seen: string[] = [];
  for await (const { id } of pastCalls(fixture.ledger, { since: 0, signal: controller.signal })) {
    seen.push(id);
    controller.abort();
  }
  expect(seen).toEqual([calls[0]?.id]);
  await fixture.engine.close();
});

test("an exception is suggested only below everything that people denied", async () => {
  const fixture = await history();
  for (let i = 0; i < 30; i++) await fixture.decide(101 + i, true);
  expect((await replay(fixture, OLD)).suggestions).toEqual([
    { rule: "big", tool: "pay", unless: "args.amount >= 0.0 && args.amount <= 127.0", approvals: 27 },
  ]);
  await fixture.decide(105, false);
  expect((await replay(fixture, OLD)).suggestions).toEqual([]);
  await fixture.engine.close();
});
