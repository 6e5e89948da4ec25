import { describe, expect, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { ANA, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { tryApprove } from "../testing/try-decide.ts";

describe("where the call can run here", () => {
  test("one commit approves and claims: nobody ever sees it approved and free", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay", args: { amount: 5 } });
    const body = Promise.withResolvers<{ ok: boolean }>();
    fixture.app.define("pay", { run: () => body.promise });
    const { session: before } = (await fixture.ledger.load({ call: call.id }))!;
    const approved = await tryApprove(fixture.engine, confirmation.id, { by: ANA, via: "http" });
    expect(approved).toMatchObject({
      ok: true,
      confirmation: { status: "approved" },
      call: { status: "executing", attempt: 1 },
    });
    const { session: after, call: running } = (await fixture.ledger.load({ call: call.id }))!;
    expect(after.version - before.version).toBe(1);
    expect(running).toMatchObject({ status: "executing", attempt: 1, startedAt: fixture.clock.now() });
    expect((await fixture.journal()).at(-1)).toMatchObject({
      kind: "confirmation-approved",
      body: {
        confirmation: confirmation.id,
        argsDigest: call.argsDigest,
        confirmed: true,
        by: { id: "ana", kind: "oidc", authenticated: true },
        via: "http",
        started: { attempt: 1, owner: running?.owner },
      },
    });
    body.resolve({ ok: true });
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toEqual([{ tool: "pay", args: { amount: 5 }, key: call.id, attempt: 1 }]);
  });

  test("the payload reaches the tool, and never its arguments", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "leave", args: { days: 5 } });
    await fixture.engine.approve(confirmation.id, { by: ANA, payload: { days: 99 } });
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toMatchObject([{ args: { days: 5 }, payload: { days: 99 } }]);
  });

  test("the request is closed in the session for every client that reloads", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "leave" });
    await fixture.engine.approve(confirmation.id, { by: ANA, payload: { days: 3 }, reason: "enjoy" });
    const closing = (await fixture.events(call.session)).find(({ closings }) => closings !== undefined);
    expect(closing).toMatchObject({
      author: "user",
      invocationId: "inv-1",
      closings: [
        { id: confirmation.id, callId: "call-1", confirmed: true, payload: { days: 3 }, reason: "enjoy" },
      ],
    });
    expect(closing).not.toHaveProperty("content");
    await fixture.engine.finished(call.id);
  });

  test("the inbox holds it no more", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toHaveLength(1);
    await fixture.engine.approve(confirmation.id, { by: ANA });
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toEqual([]);
    expect((await fixture.ledger.load({ call: call.id }))?.session.open).toBe(0);
    await fixture.engine.finished(call.id);
  });
});

describe("where the call cannot run here", () => {
  test("it is left ready, and another engine on the same file picks it up by itself", async () => {
    using file = createDatabaseFile();
    const front = await openEngineFixture({ url: file.url, hosts: false });
    const { confirmation, call } = await front.ask({ tool: "pay", args: { amount: 5 } });
    const approved = await tryApprove(front.engine, confirmation.id, { by: ANA, payload: { note: "ok" } });
    expect(approved).toMatchObject({ ok: true, call: { status: "ready", attempt: 0 } });
    if (!approved.ok) return;
    const finished = approved.finished;
    expect((await front.kinds()).at(-1)).toBe("confirmation-approved");

    const back = await openEngineFixture({ url: file.url, clock: front.clock });
    const worker = back.engine.work();
    expect(await back.engine.finished(call.id)).toMatchObject({ status: "succeeded", attempt: 1 });
    expect(await finished).toMatchObject({ status: "succeeded", result: { ok: true } });
    expect(back.app.runs).toEqual([
      { tool: "pay", args: { amount: 5 }, key: call.id, attempt: 1, payload: { note: "ok" } },
    ]);
    await worker.stop();
  });

  test("an engine that hosts other apps leaves it too, and takes it up in no round of its own", async () => {
    const fixture = await openEngineFixture({ hosts: false });
    const other = await openEngineFixture();
    expect(other.app.app).toBe("finance");
    fixture.engine.gate("elsewhere", {}, async () => null);
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    await fixture.engine.approve(confirmation.id, { by: ANA });
    await fixture.engine.work({ once: true });
    expect(await fixture.call(call.id)).toMatchObject({ status: "ready", attempt: 0 });
  });

  test("one round of work is enough, and a second finds nothing", async () => {
    using file = createDatabaseFile();
    const front = await openEngineFixture({ url: file.url, hosts: false });
    const { confirmation, call } = await front.ask({ tool: "pay" });
    await front.engine.approve(confirmation.id, { by: ANA });
    const back = await openEngineFixture({ url: file.url, clock: front.clock });
    await back.engine.work({ once: true });
    await back.engine.work({ once: true });
    expect(await front.call(call.id)).toMatchObject({ status: "succeeded", attempt: 1 });
    expect(back.app.runs).toHaveLength(1);
    expect(await back.kinds()).toEqual([
      "confirmation-requested",
      "confirmation-approved",
      "call-started",
      "call-succeeded",
    ]);
  });
});

describe("a bad answer", () => {
  const schema = {
    type: "object",
    properties: { approvedDays: { type: "integer" } },
    required: ["approvedDays"],
  };

  test.each([
    ["nothing", undefined],
    ["the arguments sent back", { days: 5 }],
    ["the wrong type", { approvedDays: "3" }],
  ])(
    "is refused with the field named, stays pending, and does not use up the approval: %s",
    async (_, payload) => {
      const fixture = await openEngineFixture();
      const { confirmation, call } = await fixture.ask({
        tool: "leave",
        args: { days: 5 },
        question: { shown: { schema } },
      });
      const [journal, events] = [await fixture.journal(), await fixture.events(call.session)];
      const bad = await tryApprove(fixture.engine, confirmation.id, {
        by: ANA,
        ...(payload === undefined ? {} : { payload }),
      });
      expect(bad).toMatchObject({ ok: false, code: "payload-mismatch", field: "approvedDays" });
      expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested", votes: [] });
      expect([await fixture.journal(), await fixture.events(call.session)]).toEqual([journal, events]);
      expect(fixture.app.runs).toEqual([]);

      const good = await tryApprove(fixture.engine, confirmation.id, {
        by: ANA,
        payload: { approvedDays: 3 },
      });
      if (good.ok) await good.finished;
      expect(fixture.app.runs).toMatchObject([{ args: { days: 5 }, payload: { approvedDays: 3 } }]);
    },
  );

  test("an approval without a payload gives the tool the example where one was shown", async () => {
    const fixture = await openEngineFixture();
    const question = { shown: { payload: { approved_days: 0 } } };
    const { confirmation, call } = await fixture.ask({ tool: "leave", args: { days: 5 }, question });
    await fixture.engine.approve(confirmation.id, { by: ANA, payload: { days: 5 } });
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toMatchObject([{ payload: { approved_days: 0 } }]);
  });
});

test("a deny rule or a host that throws approves nothing, and the question stays open", async () => {
  const fixture = await openEngineFixture();
  const { confirmation, call } = await fixture.ask({ tool: "pay" });
  fixture.app.define("pay", {
    denies: () => {
      throw new Error("the policy cannot be read");
    },
  });
  await expect(tryApprove(fixture.engine, confirmation.id, { by: ANA })).rejects.toThrow(
    "the policy cannot be read",
  );
  expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
  expect(await fixture.call(call.id)).toMatchObject({ status: "waiting" });
  expect(fixture.app.runs).toEqual([]);
});

test("decisions are signed where there is a secret, and only there", async () => {
  for (const [secret, signed] of [
    ["a secret", 1],
    [undefined, 0],
  ] as const) {
    const fixture = await openEngineFixture(secret === undefined ? {} : { secret });
    const [a, b] = await fixture.askAll([{ tool: "pay" }, { tool: "wire" }]);
    await fixture.engine.approve(a!.confirmation.id, { by: ANA });
    await fixture.engine.deny(b!.confirmation.id, { by: ANA });
    await fixture.engine.finished(a!.call.id);
    for (const { confirmation } of [a!, b!]) {
      const [vote] = (await fixture.confirmation(confirmation.id)).votes;
      expect([vote?.mac].filter((mac) => mac !== undefined)).toHaveLength(signed);
    }
  }
});
