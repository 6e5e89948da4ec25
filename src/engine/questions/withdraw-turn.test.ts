import { expect, test } from "vitest";
import { ANA, type EngineFixture, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { CallEnd } from "../calls/call-end.ts";
import { partsOf, withdrawTurn } from "../index.ts";
import type { FrameRecord } from "../ledger/index.ts";
import { tryApprove } from "../testing/try-decide.ts";

const reason = "decided elsewhere";
const withdrawal = { reason, cursor: { decided: true } };

async function frameOf(fixture: EngineFixture, call: string): Promise<FrameRecord> {
  const { frame } = (await fixture.ledger.load({ call })) ?? {};
  if (frame === undefined) throw new Error("no frame");
  return frame;
}

test("what is still asked in a turn is taken back at once, what was decided stays, and the frame goes on knowing it", async () => {
  const fixture = await openEngineFixture();
  const [paid, ...open] = await fixture.askAll([{ tool: "pay" }, { tool: "pay" }, { tool: "pay" }]);
  const decided = await tryApprove(fixture.engine, paid?.confirmation.id ?? "", { by: ANA });
  if (decided.ok) await decided.finished;
  const frame = await frameOf(fixture, paid?.call.id ?? "");
  expect(await withdrawTurn(partsOf(fixture.engine), frame, withdrawal)).toBe(true);
  for (const { confirmation, call } of open) {
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({
      status: "cancelled",
      withdrawal: reason,
    });
    expect(await fixture.call(call.id)).toMatchObject({ status: "cancelled", attempt: 0 });
  }
  expect(await fixture.call(paid?.call.id ?? "")).toMatchObject({ status: "succeeded" });
  expect(fixture.app.steps).toMatchObject([{ status: "stepping", open: 0, cursor: { decided: true } }]);
  expect((await fixture.ledger.confirmations({ state: "open" })).items).toEqual([]);
  expect(await fixture.engine.verify()).toMatchObject({ ok: true });
});

test("a turn that has gone on, or in which nothing is open, is left alone", async () => {
  const fixture = await openEngineFixture();
  const { call, confirmation } = await fixture.ask({ tool: "pay" });
  const frame = await frameOf(fixture, call.id);
  expect(await withdrawTurn(partsOf(fixture.engine), { ...frame, turn: frame.turn - 1 }, withdrawal)).toBe(
    false,
  );
  expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
  await fixture.engine.deny(confirmation.id, { by: ANA });
  const journal = await fixture.journal();
  expect(await withdrawTurn(partsOf(fixture.engine), frame, withdrawal)).toBe(false);
  expect(await fixture.journal()).toEqual(journal);
});

test("of a decision and a withdrawal at once, one stands", async () => {
  const fixture = await openEngineFixture();
  const { call, confirmation } = await fixture.ask({ tool: "pay" });
  const frame = await frameOf(fixture, call.id);
  const [decided, withdrawn] = await Promise.all([
    tryApprove(fixture.engine, confirmation.id, { by: ANA }),
    withdrawTurn(partsOf(fixture.engine), frame, withdrawal),
  ]);
  expect(decided.ok).toBe(!withdrawn);
  if (decided.ok) await decided.finished;
  expect(fixture.app.runs).toHaveLength(decided.ok ? 1 : 0);
  const closings = (await fixture.events(call.session)).flatMap((event) => event.closings ?? []);
  expect(closings).toHaveLength(1);
});

test("a call may tell what came of an earlier one of its frame, of no other, and of none that did not succeed", async () => {
  const fixture = await openEngineFixture();
  const [first, second, third] = await fixture.askAll([{ tool: "pay" }, { tool: "pay" }, { tool: "tell" }]);
  const stranger = await fixture.ask({ tool: "pay" });
  const ids = [first, second, stranger].map((asked) => asked?.call.id ?? "");
  fixture.app.define("tell", {
    run: async () =>
      new CallEnd({ result: "told", learned: Object.fromEntries(ids.map((id) => [id, "known"])) }),
  });
  await fixture.engine.deny(second?.confirmation.id ?? "", { by: ANA });
  for (const asked of [first, stranger, third]) {
    const decided = await tryApprove(fixture.engine, asked?.confirmation.id ?? "", { by: ANA });
    if (decided.ok) await decided.finished;
  }
  const results = await Promise.all(ids.map(async (id) => (await fixture.call(id)).result));
  expect(results).toEqual(["known", { error: "tool call was rejected by the user" }, { ok: true }]);
  expect((await fixture.journal()).filter(({ kind }) => kind === "call-result")).toMatchObject([
    { body: { call: ids[0], tool: "pay" } },
  ]);
  expect(await fixture.engine.verify()).toMatchObject({ ok: true });
});
