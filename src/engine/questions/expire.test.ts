import { describe, expect, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { ANA, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { tryApprove } from "../testing/try-decide.ts";

const question = { expiresInMs: 60_000 };
const EXPIRED = { error: "tool call expired before it was approved" };

describe("a deadline passes", () => {
  test("a worker fires it by itself, at the deadline and not before", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay", question });
    const worker = fixture.engine.work({ sweepMs: 3_600_000, sealMs: 3_600_000 });
    await fixture.clock.advance(59_999);
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
    const ended = fixture.engine.finished(call.id);
    await fixture.clock.advance(1);
    expect(await ended).toMatchObject({ status: "expired", attempt: 0, result: EXPIRED });
    await worker.stop();
    expect(fixture.app.runs).toEqual([]);
  });

  test("it is recorded as expired, never as anybody's rejection", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay", question });
    await fixture.clock.advance(60_000);
    await fixture.engine.work({ once: true });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "expired", votes: [] });
    expect((await fixture.journal()).at(-1)).toMatchObject({
      kind: "confirmation-expired",
      body: { confirmation: confirmation.id, call: call.id },
    });
    expect((await fixture.journal()).at(-1)?.body).not.toHaveProperty("by");
    const events = await fixture.events(call.session);
    expect(events.flatMap((event) => event.closings ?? [])).toEqual([
      { id: confirmation.id, callId: "call-1", confirmed: false, closedBy: "expiry" },
    ]);
    expect(events.at(-1)?.content?.parts).toEqual([
      { functionResponse: { id: "call-1", name: "pay", response: EXPIRED } },
    ]);
    expect(fixture.app.steps).toHaveLength(1);
  });

  test("once, however many workers look", async () => {
    using file = createDatabaseFile();
    const one = await openEngineFixture({ url: file.url });
    const { confirmation } = await one.ask({ tool: "pay", question });
    const two = await openEngineFixture({ url: file.url, clock: one.clock });
    await one.clock.advance(60_000);
    await Promise.all([one.engine.work({ once: true }), two.engine.work({ once: true })]);
    await one.engine.work({ once: true });
    expect((await one.kinds()).filter((kind) => kind === "confirmation-expired")).toHaveLength(1);
    expect(await two.confirmation(confirmation.id)).toMatchObject({ status: "expired" });
  });

  test("while nobody is running: a later process finds it overdue", async () => {
    using file = createDatabaseFile();
    const { createLedger } = await import("../../stores/index.ts");
    const { Engine } = await import("../engine.ts");
    const later = await openEngineFixture({ url: file.url });
    const { confirmation } = await later.ask({ tool: "pay", question });
    const restarted = new Engine({
      ledger: await createLedger(file.url, { clock: later.clock }),
      clock: later.clock,
    });
    restarted.host({ app: "finance", tool: () => undefined });
    await later.clock.advance(3_600_000);
    await restarted.work({ once: true });
    await restarted.close();
    expect(await later.confirmation(confirmation.id)).toMatchObject({ status: "expired" });
  });

  test("of one call of a turn: its sibling still waits, and so does the model", async () => {
    const fixture = await openEngineFixture();
    const [first, second] = await fixture.askAll([{ tool: "pay", question }, { tool: "wire" }]);
    await fixture.clock.advance(60_000);
    await fixture.engine.work({ once: true });
    expect(await fixture.confirmation(first!.confirmation.id)).toMatchObject({ status: "expired" });
    expect(await fixture.confirmation(second!.confirmation.id)).toMatchObject({ status: "requested" });
    expect(fixture.app.steps).toEqual([]);
  });
});

test("without a deadline a question waits for ever", async () => {
  const fixture = await openEngineFixture();
  const { confirmation } = await fixture.ask({ tool: "pay" });
  await fixture.clock.advance(1000 * 365 * 86_400_000);
  await fixture.engine.work({ once: true });
  expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
  expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({ ok: true });
});

test("what was decided in time does not expire afterwards", async () => {
  const fixture = await openEngineFixture({ hosts: false });
  const { confirmation, call } = await fixture.ask({ tool: "pay", question });
  await fixture.engine.approve(confirmation.id, { by: ANA });
  await fixture.clock.advance(3_600_000);
  await fixture.engine.work({ once: true });
  expect(await fixture.call(call.id)).toMatchObject({ status: "ready" });
  expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "approved" });
});

test("a deadline in a gated function", async () => {
  const fixture = await openEngineFixture();
  const pay = fixture.engine.gate(
    "pay",
    { requireConfirmation: true, expiresInMs: 1000 },
    async () => "paid",
  );
  const use = { key: "order-17", by: ANA };
  expect(await pay({}, use)).toMatchObject({ status: "pending" });
  await fixture.clock.advance(1000);
  await fixture.engine.work({ once: true });
  expect(await pay({}, use)).toEqual({ status: "expired" });
});
