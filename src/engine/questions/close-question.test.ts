import { describe, expect, test } from "vitest";
import { ANA, type EngineFixture, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { tryDeny } from "../testing/try-decide.ts";
import type { AskedCall } from "./ask.ts";

/** A call whose tool was entered, asked by itself, and words its own answer when that is not approved. */
async function suspend(
  fixture: EngineFixture,
  expiresInMs?: number,
): Promise<AskedCall & { readonly question: string }> {
  fixture.app.define("leave", {
    asking: {
      approvers: "requester",
      onDenied: "invoke",
      ...(expiresInMs === undefined ? {} : { expiresInMs }),
    },
    run: async (_call, { toolConfirmation, requestConfirmation }) => {
      if (toolConfirmation?.hint !== "Sure?") {
        requestConfirmation({ hint: "Sure?" });
        return null;
      }
      return { status: toolConfirmation.confirmed ? "granted" : "rejected" };
    },
  });
  const asked = await fixture.ask({ tool: "leave" });
  await fixture.engine.approve(asked.confirmation.id, { by: ANA });
  await fixture.engine.work({ once: true });
  const { confirmation: question = "", status } = await fixture.call(asked.call.id);
  expect(status).toBe("suspended");
  return { ...asked, question };
}

describe("a tool that asked by itself and words its own denial", () => {
  test("is entered once more when it is denied, and the ledger says denied whatever it returns", async () => {
    const fixture = await openEngineFixture();
    const { call, question } = await suspend(fixture);
    expect(await tryDeny(fixture.engine, question, { by: ANA, reason: "no" })).toMatchObject({
      ok: true,
      call: { status: "ready", refused: true },
    });
    expect(await fixture.engine.finished(call.id)).toMatchObject({
      status: "denied",
      result: { status: "rejected" },
    });
    expect(fixture.app.runs).toHaveLength(2);
    expect(await fixture.confirmation(question)).toMatchObject({ status: "denied" });
  });

  test("is entered once more when nobody decided, and its question is expired, not denied", async () => {
    const fixture = await openEngineFixture();
    const { call, question } = await suspend(fixture, 1000);
    await fixture.clock.advance(1000);
    await fixture.engine.work({ once: true });
    await fixture.engine.work({ once: true });
    expect(await fixture.confirmation(question)).toMatchObject({ status: "expired", votes: [] });
    expect(await fixture.call(call.id)).toMatchObject({ result: { status: "rejected" } });
  });

  test("is not entered again when its question is withdrawn", async () => {
    const fixture = await openEngineFixture();
    const { call, question } = await suspend(fixture);
    await fixture.engine.decisions.cancel(question, { by: ANA, reason: "never mind" });
    expect(await fixture.call(call.id)).toMatchObject({ status: "cancelled" });
    expect(fixture.app.runs).toHaveLength(1);
  });

  test("is not entered at all for a gate in front of it", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({
      tool: "leave",
      question: { shown: { onDenied: "invoke" } },
    });
    await fixture.engine.deny(confirmation.id, { by: ANA });
    expect(await fixture.call(call.id)).toMatchObject({ status: "denied" });
    expect(fixture.app.runs).toEqual([]);
  });
});

test("however a question ends, the session has exactly one event about it, in the run's own invocation", async () => {
  const fixture = await openEngineFixture();
  const asked = await fixture.askAll(
    Array.from({ length: 4 }, (_, index) => ({
      tool: "pay",
      ...(index === 3 ? { question: { expiresInMs: 1000 } } : {}),
    })),
  );
  const [approved, denied, cancelled, expired] = asked.map(({ confirmation }) => confirmation.id);
  await fixture.engine.approve(approved!, { by: ANA });
  await fixture.engine.deny(denied!, { by: ANA });
  await fixture.engine.decisions.cancel(cancelled!, { by: ANA, reason: "off" });
  await fixture.clock.advance(1000);
  await fixture.engine.work({ once: true });
  const closing = (await fixture.events(asked[0]!.call.session)).filter(
    ({ closings }) => closings !== undefined,
  );
  expect(closing.every(({ author, invocationId }) => author === "user" && invocationId === "inv-1")).toBe(
    true,
  );
  expect(closing.flatMap(({ closings }) => closings ?? [])).toEqual([
    { id: approved, callId: "call-1", confirmed: true },
    { id: denied, callId: "call-2", confirmed: false },
    {
      id: cancelled,
      callId: "call-3",
      confirmed: false,
      closedBy: "withdrawal",
      reason: expect.stringMatching(/^off \(withdrawn by ana\b/) as string,
    },
    { id: expired, callId: "call-4", confirmed: false, closedBy: "expiry" },
  ]);
  // The model waits for every call of the turn, and is then called once.
  expect(fixture.app.steps).toHaveLength(1);
  expect(fixture.app.steps[0]).toMatchObject({ open: 0, calls: asked.map(({ call }) => call.id) });
});

test("the journal names who denied, how they were known and why, but never what they typed into a form", async () => {
  const fixture = await openEngineFixture({ secret: "a secret" });
  const [pay, wire] = await fixture.askAll([{ tool: "pay" }, { tool: "wire" }]);
  const by = { ...ANA, onBehalfOf: "max" };
  await fixture.engine.deny(pay!.confirmation.id, { by, via: "slack", reason: "no" });
  await fixture.engine.approve(wire!.confirmation.id, { by, payload: { pin: "1234-pin" } });
  await fixture.engine.finished(wire!.call.id);
  const denied = (await fixture.journal()).find(({ kind }) => kind === "confirmation-denied");
  expect(denied?.body).toMatchObject({
    confirmation: pay!.confirmation.id,
    confirmed: false,
    by: { id: "ana", kind: "oidc", authenticated: true, onBehalfOf: "max" },
    via: "slack",
    reason: "no",
    mac: expect.stringMatching(/^[\w-]{43}$/) as string,
  });
  expect(JSON.stringify(await fixture.journal())).not.toContain("1234-pin");
  expect(await fixture.engine.verify()).toMatchObject({ ok: true });
});
