import { describe, expect, test } from "vitest";
import { ANA, type Desk, openDesk } from "../../../test/attack/support/engine-fixture.ts";
import { tryDeny } from "../testing/try-decide.ts";
import type { AskedCall } from "./ask.ts";

/** A call whose tool was entered, asked by itself, and words its own answer when that is not approved. */
async function suspend(desk: Desk, expiresInMs?: number): Promise<AskedCall & { readonly question: string }> {
  desk.app.define("leave", {
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
  const asked = await desk.ask({ tool: "leave" });
  await desk.engine.approve(asked.confirmation.id, { by: ANA });
  await desk.engine.work({ once: true });
  const { confirmation: question = "", status } = await desk.call(asked.call.id);
  expect(status).toBe("suspended");
  return { ...asked, question };
}

describe("a tool that asked by itself and words its own denial", () => {
  test("is entered once more when it is denied, and the ledger says denied whatever it returns", async () => {
    const desk = await openDesk();
    const { call, question } = await suspend(desk);
    expect(await tryDeny(desk.engine, question, { by: ANA, reason: "no" })).toMatchObject({
      ok: true,
      call: { status: "ready", refused: true },
    });
    expect(await desk.engine.finished(call.id)).toMatchObject({
      status: "denied",
      result: { status: "rejected" },
    });
    expect(desk.app.runs).toHaveLength(2);
    expect(await desk.confirmation(question)).toMatchObject({ status: "denied" });
  });

  test("is entered once more when nobody decided, and its question is expired, not denied", async () => {
    const desk = await openDesk();
    const { call, question } = await suspend(desk, 1000);
    await desk.clock.advance(1000);
    await desk.engine.work({ once: true });
    await desk.engine.work({ once: true });
    expect(await desk.confirmation(question)).toMatchObject({ status: "expired", votes: [] });
    expect(await desk.call(call.id)).toMatchObject({ result: { status: "rejected" } });
  });

  test("is not entered again when its question is withdrawn", async () => {
    const desk = await openDesk();
    const { call, question } = await suspend(desk);
    await desk.engine.decisions.cancel(question, { by: ANA, reason: "never mind" });
    expect(await desk.call(call.id)).toMatchObject({ status: "cancelled" });
    expect(desk.app.runs).toHaveLength(1);
  });

  test("is not entered at all for a gate in front of it", async () => {
    const desk = await openDesk();
    const { confirmation, call } = await desk.ask({
      tool: "leave",
      question: { shown: { onDenied: "invoke" } },
    });
    await desk.engine.deny(confirmation.id, { by: ANA });
    expect(await desk.call(call.id)).toMatchObject({ status: "denied" });
    expect(desk.app.runs).toEqual([]);
  });
});

test("however a question ends, the session tells of it exactly once, in the run's own invocation", async () => {
  const desk = await openDesk();
  const asked = await desk.askAll(
    Array.from({ length: 4 }, (_, index) => ({
      tool: "pay",
      ...(index === 3 ? { question: { expiresInMs: 1000 } } : {}),
    })),
  );
  const [approved, denied, cancelled, expired] = asked.map(({ confirmation }) => confirmation.id);
  await desk.engine.approve(approved!, { by: ANA });
  await desk.engine.deny(denied!, { by: ANA });
  await desk.engine.decisions.cancel(cancelled!, { by: ANA, reason: "off" });
  await desk.clock.advance(1000);
  await desk.engine.work({ once: true });
  const closing = (await desk.events(asked[0]!.call.session)).filter(
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
  expect(desk.app.steps).toHaveLength(1);
  expect(desk.app.steps[0]).toMatchObject({ open: 0, calls: asked.map(({ call }) => call.id) });
});

test("the journal names who denied, how they were known and why, but never what they typed into a form", async () => {
  const desk = await openDesk({ secret: "a secret" });
  const [pay, wire] = await desk.askAll([{ tool: "pay" }, { tool: "wire" }]);
  const by = { ...ANA, onBehalfOf: "max" };
  await desk.engine.deny(pay!.confirmation.id, { by, via: "slack", reason: "no" });
  await desk.engine.approve(wire!.confirmation.id, { by, payload: { pin: "1234-pin" } });
  await desk.engine.finished(wire!.call.id);
  const denied = (await desk.journal()).find(({ kind }) => kind === "confirmation-denied");
  expect(denied?.body).toMatchObject({
    confirmation: pay!.confirmation.id,
    confirmed: false,
    by: { id: "ana", kind: "oidc", authenticated: true, onBehalfOf: "max" },
    via: "slack",
    reason: "no",
    mac: expect.stringMatching(/^[\w-]{43}$/) as string,
  });
  expect(JSON.stringify(await desk.journal())).not.toContain("1234-pin");
  expect(await desk.engine.verify()).toMatchObject({ ok: true });
});
