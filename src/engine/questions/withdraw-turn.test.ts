import { expect, test } from "vitest";
import { ANA, type Desk, openDesk } from "../../../test/attack/support/engine-fixture.ts";
import { CallEnd } from "../calls/call-end.ts";
import { partsOf, withdrawTurn } from "../index.ts";
import type { FrameRecord } from "../ledger/records.ts";
import { tryApprove } from "../testing/try-decide.ts";

const reason = "decided elsewhere";
const withdrawal = { reason, cursor: { decided: true } };

async function frameOf(desk: Desk, call: string): Promise<FrameRecord> {
  const { frame } = (await desk.ledger.load({ call })) ?? {};
  if (frame === undefined) throw new Error("no frame");
  return frame;
}

test("what is still asked in a turn is taken back at once, what was decided stays, and the frame goes on knowing it", async () => {
  const desk = await openDesk();
  const [paid, ...open] = await desk.askAll([{ tool: "pay" }, { tool: "pay" }, { tool: "pay" }]);
  const decided = await tryApprove(desk.engine, paid?.confirmation.id ?? "", { by: ANA });
  if (decided.ok) await decided.finished;
  const frame = await frameOf(desk, paid?.call.id ?? "");
  expect(await withdrawTurn(partsOf(desk.engine), frame, withdrawal)).toBe(true);
  for (const { confirmation, call } of open) {
    expect(await desk.confirmation(confirmation.id)).toMatchObject({
      status: "cancelled",
      withdrawal: reason,
    });
    expect(await desk.call(call.id)).toMatchObject({ status: "cancelled", attempt: 0 });
  }
  expect(await desk.call(paid?.call.id ?? "")).toMatchObject({ status: "succeeded" });
  expect(desk.app.steps).toMatchObject([{ status: "stepping", open: 0, cursor: { decided: true } }]);
  expect((await desk.ledger.confirmations({ state: "open" })).items).toEqual([]);
  expect(await desk.engine.verify()).toMatchObject({ ok: true });
});

test("a turn that has gone on, or in which nothing is open, is left alone", async () => {
  const desk = await openDesk();
  const { call, confirmation } = await desk.ask({ tool: "pay" });
  const frame = await frameOf(desk, call.id);
  expect(await withdrawTurn(partsOf(desk.engine), { ...frame, turn: frame.turn - 1 }, withdrawal)).toBe(
    false,
  );
  expect(await desk.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
  await desk.engine.deny(confirmation.id, { by: ANA });
  const journal = await desk.journal();
  expect(await withdrawTurn(partsOf(desk.engine), frame, withdrawal)).toBe(false);
  expect(await desk.journal()).toEqual(journal);
});

test("of a decision and a withdrawal at once, one stands", async () => {
  const desk = await openDesk();
  const { call, confirmation } = await desk.ask({ tool: "pay" });
  const frame = await frameOf(desk, call.id);
  const [decided, withdrawn] = await Promise.all([
    tryApprove(desk.engine, confirmation.id, { by: ANA }),
    withdrawTurn(partsOf(desk.engine), frame, withdrawal),
  ]);
  expect(decided.ok).toBe(!withdrawn);
  if (decided.ok) await decided.finished;
  expect(desk.app.runs).toHaveLength(decided.ok ? 1 : 0);
  const closings = (await desk.events(call.session)).flatMap((event) => event.closings ?? []);
  expect(closings).toHaveLength(1);
});

test("a call may tell what came of an earlier one of its frame, of no other, and of none that did not succeed", async () => {
  const desk = await openDesk();
  const [first, second, third] = await desk.askAll([{ tool: "pay" }, { tool: "pay" }, { tool: "tell" }]);
  const stranger = await desk.ask({ tool: "pay" });
  const ids = [first, second, stranger].map((asked) => asked?.call.id ?? "");
  desk.app.define("tell", {
    run: async () =>
      new CallEnd({ result: "told", learned: Object.fromEntries(ids.map((id) => [id, "known"])) }),
  });
  await desk.engine.deny(second?.confirmation.id ?? "", { by: ANA });
  for (const asked of [first, stranger, third]) {
    const decided = await tryApprove(desk.engine, asked?.confirmation.id ?? "", { by: ANA });
    if (decided.ok) await decided.finished;
  }
  const results = await Promise.all(ids.map(async (id) => (await desk.call(id)).result));
  expect(results).toEqual(["known", { error: "tool call was rejected by the user" }, { ok: true }]);
  expect((await desk.journal()).filter(({ kind }) => kind === "call-result")).toMatchObject([
    { body: { call: ids[0], tool: "pay" } },
  ]);
  expect(await desk.engine.verify()).toMatchObject({ ok: true });
});
