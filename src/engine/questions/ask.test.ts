import { describe, expect, test } from "vitest";
import { ANA, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { REDACTED } from "../common/redact.ts";
import { Engine } from "../engine.ts";
import { oneApproval } from "../people/index.ts";
import { tryApprove } from "../testing/try-decide.ts";

describe("a turn that needs people", () => {
  test("asks all its questions in one event, and says of each what is about to happen", async () => {
    const fixture = await openEngineFixture();
    const [pay, leave] = await fixture.askAll([
      { tool: "pay", args: { amount: 5 } },
      {
        tool: "leave",
        question: { shown: { hint: "How many days?", payload: { days: 0 }, askedByTool: true } },
      },
    ]);
    const asking = (await fixture.events(pay!.call.session)).filter(({ asks }) => asks !== undefined);
    expect(asking).toHaveLength(1);
    expect(asking[0]).toMatchObject({ author: "clerk", invocationId: "inv-1" });
    expect(asking[0]).not.toHaveProperty("content");
    expect(asking[0]?.asks).toEqual([
      {
        id: pay!.confirmation.id,
        call: { id: "call-1", name: "pay", args: { amount: 5 } },
        hint: "Approve execution of tool pay?",
      },
      {
        id: leave!.confirmation.id,
        call: { id: "call-2", name: "leave", args: {} },
        hint: "How many days?",
        payload: { days: 0 },
        askedByTool: true,
      },
    ]);
  });

  test("puts on record who asked, what was shown, why, and who may decide", async () => {
    const fixture = await openEngineFixture();
    const question = {
      requirements: oneApproval({ roles: ["manager"] }),
      expiresInMs: 1000,
      requesters: ["ana", "bot"],
    };
    const { confirmation, call } = await fixture.ask({ tool: "pay", args: { amount: 5 }, question });
    expect(await fixture.journal()).toEqual([
      {
        kind: "confirmation-requested",
        body: {
          confirmation: confirmation.id,
          call: call.id,
          tool: "pay",
          round: 0,
          argsDigest: call.argsDigest,
          app: "finance",
          agent: "clerk",
          path: ["clerk"],
          user: "ana",
          requesters: ["ana", "bot"],
          args: { amount: 5 },
          hint: "Approve execution of tool pay?",
          why: ["requireConfirmation"],
          requirements: oneApproval({ roles: ["manager"] }),
          definitionDigest: call.definitionDigest,
          expiresAt: fixture.clock.now() + 1000,
        },
      },
    ]);
  });

  test("keeps declared secrets out of the event and the journal; only the tool gets them", async () => {
    const fixture = await openEngineFixture();
    const args = { to: "bob", card: { number: "4111-secret" } };
    const { confirmation, call } = await fixture.ask({ tool: "pay", args, secrets: ["/card/number"] });
    const shown = { to: "bob", card: { number: REDACTED } };
    const events = await fixture.events(call.session);
    expect(events.flatMap(({ asks }) => asks ?? [])).toMatchObject([{ call: { args: shown } }]);
    expect((await fixture.journal())[0]?.body).toMatchObject({ args: shown });
    await fixture.engine.approve(confirmation.id, { by: ANA });
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toMatchObject([{ args }]);
    const told = JSON.stringify([await fixture.events(call.session), await fixture.journal()]);
    expect(told).not.toContain("4111-secret");
  });

  test("names each question so that nobody can guess it", async () => {
    const fixture = await openEngineFixture();
    const asked = await fixture.askAll(Array.from({ length: 10 }, () => ({ tool: "pay" })));
    const ids = asked.map(({ confirmation }) => confirmation.id);
    for (const id of ids) expect(id).toMatch(/^adk-[0-9a-z]{52}$/);
    expect(new Set(ids.map((id) => id.slice(-16))).size).toBe(10);
  });
});

describe("too much", () => {
  test("a session with as many open questions as it may have: the call fails, and says why", async () => {
    const fixture = await openEngineFixture();
    fixture.app.define("nosy", {
      run: async (_call, { requestConfirmation }) => {
        requestConfirmation({ hint: "And now?" });
        return null;
      },
    });
    const [nosy, ...others] = await fixture.askAll([{ tool: "nosy" }, { tool: "pay" }, { tool: "wire" }]);
    // Another process, which allows fewer.
    const strict = new Engine({ ledger: fixture.ledger, clock: fixture.clock, maxOpen: 2 });
    strict.host(fixture.app);
    await strict.approve(nosy!.confirmation.id, { by: ANA });
    expect(await strict.finished(nosy!.call.id)).toMatchObject({
      status: "failed",
      result: { code: "too-many-open" },
    });
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toHaveLength(others.length);
  });

  test("of a turn that asks too much, the calls beyond the limit are answered instead", async () => {
    const fixture = await openEngineFixture({ maxOpen: 2 });
    const asked = await fixture.askAll([{ tool: "pay" }, { tool: "wire" }, { tool: "wire" }]);
    expect(asked).toHaveLength(2);
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toHaveLength(2);
    const [first] = asked;
    const [, , third] = (await fixture.ledger.load({ call: first!.call.id }))?.frame?.calls ?? [];
    expect((await fixture.ledger.calls([third ?? ""]))[0]).toMatchObject({
      status: "failed",
      result: { code: "too-many-open" },
    });
  });

  test("with one question fewer it may ask", async () => {
    const fixture = await openEngineFixture({ maxOpen: 2 });
    fixture.app.define("nosy", {
      run: async (_call, { requestConfirmation }) => {
        requestConfirmation({ hint: "And now?" });
        return null;
      },
    });
    const [nosy] = await fixture.askAll([{ tool: "nosy" }, { tool: "pay" }]);
    await fixture.engine.approve(nosy!.confirmation.id, { by: ANA });
    await fixture.engine.work({ once: true });
    expect(await fixture.call(nosy!.call.id)).toMatchObject({ status: "suspended", rounds: 2 });
  });

  test("a call that keeps asking is ended after as many questions as it may ask", async () => {
    const fixture = await openEngineFixture({ maxRounds: 3 });
    fixture.app.define("nosy", {
      run: async (_call, { requestConfirmation }) => {
        requestConfirmation({ hint: "And now?" });
        return null;
      },
    });
    const { call } = await fixture.ask({ tool: "nosy" });
    for (let round = 0; round < 3; round++) {
      const { confirmation = "" } = await fixture.call(call.id);
      expect(await tryApprove(fixture.engine, confirmation, { by: ANA })).toMatchObject({ ok: true });
      await fixture.engine.work({ once: true });
    }
    expect(await fixture.call(call.id)).toMatchObject({
      status: "failed",
      rounds: 3,
      result: { code: "too-many-open" },
    });
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toEqual([]);
  });
});
