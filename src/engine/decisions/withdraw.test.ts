import { describe, expect, test } from "vitest";
import { ANA, BOB, MANAGER, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { oneApproval } from "../people/index.ts";
import { tryApprove } from "../testing/try-decide.ts";

const reason = "changed my mind";
const words = expect.stringMatching(/^changed my mind \(withdrawn by ana\b/) as string;

describe("an open question is withdrawn", () => {
  test("its call gets an answer with the reason, the session is told, and the turn goes on", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    const cancelled = await fixture.engine.decisions.cancel(confirmation.id, { by: ANA, reason });
    expect(cancelled).toMatchObject({ ok: true, confirmation: { status: "cancelled", withdrawal: words } });
    expect(await fixture.call(call.id)).toMatchObject({
      status: "cancelled",
      attempt: 0,
      result: { error: "tool call was withdrawn before it ran", reason: words },
    });
    const closings = (await fixture.events(call.session)).flatMap((event) => event.closings ?? []);
    expect(closings).toEqual([
      { id: confirmation.id, callId: "call-1", confirmed: false, closedBy: "withdrawal", reason: words },
    ]);
    expect((await fixture.journal()).at(-1)).toMatchObject({
      kind: "confirmation-cancelled",
      body: { confirmation: confirmation.id, reason: words },
    });
    expect(fixture.app.steps).toHaveLength(1);
    expect(fixture.app.runs).toEqual([]);
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toEqual([]);
  });

  test("and can then not be decided; withdrawn again by the same person, it is answered with what stands", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay" });
    await fixture.engine.decisions.cancel(confirmation.id, { by: ANA, reason });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({
      code: "withdrawn",
      message: expect.stringContaining("The question was withdrawn: changed my mind") as string,
    });
    const before = await fixture.journal();
    expect(await fixture.engine.decisions.cancel(confirmation.id, { by: ANA, reason: "x" })).toMatchObject({
      ok: true,
      repeated: true,
      confirmation: { status: "cancelled", withdrawal: words },
    });
    expect(await fixture.engine.decisions.cancel(confirmation.id, { by: BOB, reason })).toMatchObject({
      ok: false,
    });
    expect((await fixture.journal()).slice(0, before.length)).toEqual(before);
  });
});

test("an approval whose call nobody has started is withdrawn too, and is not closed in the session twice", async () => {
  const fixture = await openEngineFixture({ hosts: false });
  const { confirmation, call } = await fixture.ask({ tool: "pay" });
  await fixture.engine.approve(confirmation.id, { by: ANA });
  expect(await fixture.engine.decisions.cancel(confirmation.id, { by: ANA, reason })).toMatchObject({
    ok: true,
  });
  expect(await fixture.confirmation(confirmation.id)).toMatchObject({
    status: "cancelled",
    votes: [{ confirmed: true, by: { id: "ana" } }],
  });
  expect(await fixture.call(call.id)).toMatchObject({ status: "cancelled", attempt: 0 });
  const closings = (await fixture.events(call.session)).flatMap((event) => event.closings ?? []);
  expect(closings).toHaveLength(1);
});

describe("nothing is left to withdraw", () => {
  test.each(["denied", "expired", "executing", "succeeded"] as const)("once it is %s", async (status) => {
    const fixture = await openEngineFixture();
    const body = Promise.withResolvers<null>();
    fixture.app.define("pay", { run: () => body.promise });
    const { confirmation, call } = await fixture.ask({ tool: "pay", question: { expiresInMs: 1000 } });
    if (status === "denied") await fixture.engine.deny(confirmation.id, { by: ANA });
    else if (status === "expired") {
      await fixture.clock.advance(1000);
      await fixture.engine.work({ once: true });
    } else await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    if (status !== "executing") body.resolve(null);
    if (status === "succeeded") await fixture.engine.finished(call.id);
    const before = [await fixture.call(call.id), await fixture.journal()];
    expect(before[0]).toMatchObject({ status });
    expect(await fixture.engine.decisions.cancel(confirmation.id, { by: ANA, reason })).toMatchObject({
      code: "not-cancellable",
    });
    expect([await fixture.call(call.id), await fixture.journal()]).toEqual(before);
    body.resolve(null);
  });

  test("of a question that is not there", async () => {
    const fixture = await openEngineFixture();
    const refused = await fixture.engine.decisions.cancel("adk-nothing", { by: ANA, reason });
    expect(refused).toMatchObject({ code: "unknown-confirmation" });
  });
});

describe("who may withdraw", () => {
  const question = { requirements: oneApproval({ roles: ["manager"], notRequester: true }) };

  test.each([
    ["whoever asked", ANA, true],
    ["who acts for them", { ...BOB, onBehalfOf: "ana" }, true],
    ["who may decide it", MANAGER, true],
    ["a stranger", BOB, false],
    ["an agent that asked", { ...ANA, kind: "agent" as const }, false],
  ])("%s: %o", async (_, by, allowed) => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", question });
    const before = await fixture.journal();
    const outcome = await fixture.engine.decisions.cancel(confirmation.id, { by, reason });
    expect(outcome.ok ? "ok" : outcome.code).toBe(allowed ? "ok" : "forbidden");
    const after = await fixture.confirmation(confirmation.id);
    expect(after.status).toBe(allowed ? "cancelled" : "requested");
    const [told] = (await fixture.journal()).slice(before.length);
    expect(told?.kind).toBe(allowed ? "confirmation-cancelled" : "decision-refused");
  });
});
