import { describe, expect, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import {
  ANA,
  type AskInput,
  BOB,
  type EngineFixture,
  MANAGER,
  openEngineFixture,
} from "../../../test/attack/support/engine-fixture.ts";
import type { JsonValue } from "../../protocol/index.ts";
import { OutcomeUnknown } from "../calls/call-context.ts";
import type { LiveTool } from "../host.ts";
import { oneApproval } from "../people/index.ts";
import type { AskedCall } from "../questions/ask.ts";
import { type Confirmation, toConfirmation } from "../questions/index.ts";
import { tryApprove } from "../testing/try-decide.ts";

const LOST: Partial<LiveTool> = {
  run: async () => {
    throw new OutcomeUnknown("the line went dead");
  },
};

/** A call that started and whose end nobody knows. */
async function loseTrack(fixture: EngineFixture, input: Partial<AskInput> = {}): Promise<AskedCall> {
  fixture.app.define("pay", LOST);
  const asked = await fixture.ask({ tool: "pay", args: { amount: 5 }, ...input });
  const by = input.question === undefined ? ANA : MANAGER;
  const approved = await tryApprove(fixture.engine, asked.confirmation.id, { by });
  if (!approved.ok) throw new Error(approved.message);
  expect(await approved.finished).toMatchObject({ status: "unknown" });
  fixture.app.define("pay", {});
  return asked;
}

/** As the API shows it. */
async function shown(fixture: EngineFixture, id: string): Promise<Confirmation> {
  const call = await fixture.call(id);
  const confirmation = await fixture.confirmation(call.confirmation ?? "");
  return toConfirmation({ confirmation, call, session: { id: "s" } });
}

describe("an unknown outcome is settled", () => {
  test("as having happened: the result is the person's, the model gets it, and nothing runs", async () => {
    const fixture = await openEngineFixture();
    const { call } = await loseTrack(fixture);
    const settled = await fixture.engine.decisions.settle(
      { call: call.id },
      { as: "succeeded", result: { receipt: 7 } },
      { by: ANA, via: "cli" },
    );
    expect(settled).toMatchObject({ ok: true, call: { status: "succeeded", result: { receipt: 7 } } });
    expect(await fixture.call(call.id)).toMatchObject({
      status: "succeeded",
      result: { receipt: 7 },
      attempt: 1,
    });
    const settledBy = { id: "ana", kind: "oidc", authenticated: true };
    expect((await fixture.call(call.id)).settled).toMatchObject({
      as: "succeeded",
      by: settledBy,
      via: "cli",
    });
    expect(await shown(fixture, call.id)).toMatchObject({
      status: "succeeded",
      settlement: { as: "succeeded", by: settledBy, via: "cli" },
    });
    expect((await fixture.journal()).at(-1)).toMatchObject({
      kind: "call-settled",
      body: {
        call: call.id,
        attempt: 1,
        as: "succeeded",
        by: { id: "ana", kind: "oidc", authenticated: true },
        via: "cli",
      },
    });
    const answer = (await fixture.events(call.session)).at(-1)?.content?.parts[0];
    expect(answer).toEqual({ functionResponse: { id: "call-1", name: "pay", response: { receipt: 7 } } });
    expect(fixture.app.runs).toHaveLength(1);
    expect(fixture.app.steps).toHaveLength(1);
  });

  test.each<[JsonValue, JsonValue]>([
    ["done", { result: "done" }],
    [null, { result: null }],
  ])("with a result that is no object (%j), which the wire carries as one", async (result, response) => {
    const fixture = await openEngineFixture();
    const { call } = await loseTrack(fixture);
    await fixture.engine.decisions.settle({ call: call.id }, { as: "succeeded", result }, { by: ANA });
    expect((await fixture.events(call.session)).at(-1)?.content?.parts[0]).toMatchObject({
      functionResponse: { response },
    });
  });

  test("as having failed: it does not run again, and the model is told so", async () => {
    const fixture = await openEngineFixture();
    const { call, confirmation } = await loseTrack(fixture);
    const settled = await fixture.engine.decisions.settle(
      { confirmation: confirmation.id },
      { as: "failed", error: "the bank says no" },
      { by: ANA },
    );
    expect(settled).toMatchObject({
      ok: true,
      call: { status: "failed", result: { error: "the bank says no" } },
    });
    expect((await fixture.journal()).at(-1)).toMatchObject({ kind: "call-settled", body: { as: "failed" } });
    expect(await fixture.call(call.id)).toMatchObject({ status: "failed" });
    expect(fixture.app.runs).toHaveLength(1);
  });

  test("as not having happened: it runs at once, as the next attempt under the same key", async () => {
    const fixture = await openEngineFixture();
    const { call } = await loseTrack(fixture);
    const settled = await fixture.engine.decisions.settle({ call: call.id }, { as: "retry" }, { by: ANA });
    expect(settled).toMatchObject({ ok: true, call: { status: "executing", attempt: 2 } });
    expect(await fixture.engine.finished(call.id)).toMatchObject({ status: "succeeded", attempt: 2 });
    expect(fixture.app.runs).toMatchObject([
      { key: call.id, attempt: 1, args: { amount: 5 } },
      { key: call.id, attempt: 2, args: { amount: 5 } },
    ]);
    expect((await fixture.kinds()).slice(-4)).toEqual([
      "call-unknown",
      "call-settled",
      "call-started",
      "call-succeeded",
    ]);
  });

  test("as not having happened, where it is not hosted: left ready for whoever hosts it", async () => {
    using file = createDatabaseFile();
    const back = await openEngineFixture({ url: file.url });
    const { call } = await loseTrack(back);
    const front = await openEngineFixture({ url: file.url, clock: back.clock, hosts: false });
    const settled = await front.engine.decisions.settle({ call: call.id }, { as: "retry" }, { by: ANA });
    expect(settled).toMatchObject({ ok: true, call: { status: "ready", attempt: 1 } });
    await back.engine.work({ once: true });
    expect(back.app.runs).toMatchObject([{ attempt: 1 }, { attempt: 2, key: call.id }]);
    expect(await front.call(call.id)).toMatchObject({ status: "succeeded", attempt: 2 });
  });
});

describe("the first settlement stands", () => {
  test.each(["succeeded", "failed", "retry"] as const)(
    "after %s there is nothing left to settle; the same again is answered with what stands",
    async (as) => {
      const fixture = await openEngineFixture();
      const { call } = await loseTrack(fixture);
      const first = {
        succeeded: { as: "succeeded", result: 1 },
        failed: { as: "failed", error: "no" },
        retry: { as: "retry" },
      } as const;
      expect(await fixture.engine.decisions.settle({ call: call.id }, first[as], { by: ANA })).toMatchObject({
        ok: true,
      });
      await fixture.engine.finished(call.id);
      const before = [await fixture.call(call.id), await fixture.journal()];
      for (const again of Object.values(first)) {
        const said = await fixture.engine.decisions.settle(
          { call: call.id },
          { ...again, attempt: 1 },
          { by: ANA },
        );
        expect(said).toMatchObject(
          again.as === as ? { ok: true, repeated: true } : { ok: false, code: "not-settleable" },
        );
        const other = await fixture.engine.decisions.settle(
          { call: call.id },
          { ...again, attempt: 9 },
          { by: ANA },
        );
        expect(other).toMatchObject({ ok: false, code: "not-settleable" });
      }
      expect([await fixture.call(call.id), await fixture.journal()]).toEqual(before);
    },
  );

  test("said of an earlier attempt: refused, because nobody has said it of this one", async () => {
    const fixture = await openEngineFixture();
    const { call } = await loseTrack(fixture);
    const stale = await fixture.engine.decisions.settle(
      { call: call.id },
      { as: "retry", attempt: 0 },
      { by: ANA },
    );
    expect(stale).toMatchObject({ ok: false, code: "stale-version" });
    expect(await fixture.call(call.id)).toMatchObject({ status: "unknown", attempt: 1 });
    const settled = await fixture.engine.decisions.settle(
      { call: call.id },
      { as: "retry", attempt: 1 },
      { by: ANA },
    );
    expect(settled).toMatchObject({ ok: true });
  });

  test("two at the same moment: one is taken, the other refused", async () => {
    const fixture = await openEngineFixture();
    const { call } = await loseTrack(fixture);
    const results = await Promise.all([
      fixture.engine.decisions.settle({ call: call.id }, { as: "succeeded", result: 1 }, { by: ANA }),
      fixture.engine.decisions.settle({ call: call.id }, { as: "failed", error: "no" }, { by: ANA }),
    ]);
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    expect(results.find(({ ok }) => !ok)).toMatchObject({ code: "not-settleable" });
  });

  test.each(["waiting", "denied", "succeeded"] as const)(
    "a call that is %s cannot be settled",
    async (status) => {
      const fixture = await openEngineFixture();
      const { call, confirmation } = await fixture.ask({ tool: "pay" });
      if (status === "denied") await fixture.engine.deny(confirmation.id, { by: ANA });
      if (status === "succeeded") {
        await fixture.engine.approve(confirmation.id, { by: ANA });
        await fixture.engine.finished(call.id);
      }
      const refused = await fixture.engine.decisions.settle({ call: call.id }, { as: "retry" }, { by: ANA });
      expect(refused).toMatchObject({ ok: false, code: "not-settleable", call: { status } });
    },
  );
});

describe("settling needs the right to decide", () => {
  const question = { requirements: oneApproval({ roles: ["manager"], notRequester: true }) };

  test.each([
    ["a stranger", BOB],
    ["whoever asked, under maker and checker", ANA],
    ["an agent with the role", { ...MANAGER, kind: "agent" as const }],
  ])("refused: %s", async (_, by) => {
    const fixture = await openEngineFixture();
    const { call } = await loseTrack(fixture, { question });
    const before = await fixture.journal();
    for (const settlement of [
      { as: "retry" },
      { as: "succeeded", result: 1 },
      { as: "failed", error: "no" },
    ] as const) {
      const refused = await fixture.engine.decisions.settle({ call: call.id }, settlement, { by });
      expect(refused).toMatchObject({ ok: false, code: "not-an-approver" });
    }
    expect(await fixture.call(call.id)).toMatchObject({ status: "unknown", attempt: 1 });
    const refusals = (await fixture.journal()).slice(before.length);
    expect(refusals.map(({ kind }) => kind)).toEqual(Array.from({ length: 3 }, () => "decision-refused"));
    expect(
      await fixture.engine.decisions.settle({ call: call.id }, { as: "retry" }, { by: MANAGER }),
    ).toMatchObject({
      ok: true,
    });
  });

  test("of the call's last question, also when an earlier one is named", async () => {
    const fixture = await openEngineFixture();
    fixture.app.define("pay", {
      asking: { approvers: { roles: ["manager"] } },
      run: async (_call, { toolConfirmation, requestConfirmation }) => {
        if (toolConfirmation?.hint === "A manager, please.") throw new OutcomeUnknown("the line went dead");
        requestConfirmation({ hint: "A manager, please." });
        return null;
      },
    });
    const { call, confirmation } = await fixture.ask({ tool: "pay" });
    await fixture.engine.approve(confirmation.id, { by: ANA });
    await fixture.engine.work({ once: true });
    const second = (await fixture.call(call.id)).confirmation ?? "";
    await fixture.engine.approve(second, { by: MANAGER });
    expect(await fixture.engine.finished(call.id)).toMatchObject({ status: "unknown" });
    const target = { confirmation: confirmation.id };
    expect(
      await fixture.engine.decisions.settle(target, { as: "failed", error: "no" }, { by: ANA }),
    ).toMatchObject({
      code: "not-an-approver",
    });
    expect(
      await fixture.engine.decisions.settle(target, { as: "failed", error: "no" }, { by: MANAGER }),
    ).toMatchObject({
      ok: true,
    });
  });

  test("of a call that nobody was asked about: its session's user, or the host", async () => {
    const fixture = await openEngineFixture();
    const pay = fixture.engine.gate("pay", {}, async () => {
      throw new OutcomeUnknown("the line went dead");
    });
    const outcome = await pay({}, { key: "order-17", by: ANA });
    if (outcome.status !== "unknown") throw new Error(outcome.status);
    const target = { call: outcome.callId };
    expect(await fixture.engine.decisions.settle(target, { as: "retry" }, { by: BOB })).toMatchObject({
      code: "not-an-approver",
    });
    const settled = await fixture.engine.decisions.settle(
      target,
      { as: "succeeded", result: "paid" },
      { by: { id: "operator" } },
    );
    expect(settled).toMatchObject({ ok: true });
    expect(await pay({}, { key: "order-17", by: ANA })).toEqual({ status: "succeeded", result: "paid" });
  });
});

test.each<[string, { call: string } | { confirmation: string }, string]>([
  ["call", { call: "nothing" }, "unknown-call"],
  ["confirmation", { confirmation: "adk-nothing" }, "unknown-confirmation"],
])("an unknown %s is unknown to everybody", async (_, target, code) => {
  const fixture = await openEngineFixture();
  expect(await fixture.engine.decisions.settle(target, { as: "retry" }, { by: ANA })).toMatchObject({
    code,
  });
});

test.each([
  ["gone", "tool-gone"],
  ["changed", "definition-changed"],
  ["denied by a rule", "policy-denied"],
] as const)(
  "a tool that is %s is not run again; the call stays to be settled otherwise",
  async (how, code) => {
    const fixture = await openEngineFixture();
    const { call } = await loseTrack(fixture);
    if (how === "gone") fixture.app.remove("pay");
    else if (how === "changed") fixture.app.define("pay", { definitionDigest: "v2:changed" });
    else fixture.app.define("pay", { denies: () => "payments are frozen" });
    const before = await fixture.journal();
    expect(
      await fixture.engine.decisions.settle({ call: call.id }, { as: "retry" }, { by: ANA }),
    ).toMatchObject({
      ok: false,
      code,
    });
    expect(await fixture.call(call.id)).toMatchObject({ status: "unknown" });
    expect(await fixture.journal()).toEqual(before);
    expect(
      await fixture.engine.decisions.settle({ call: call.id }, { as: "failed", error: "no" }, { by: ANA }),
    ).toMatchObject({ ok: true });
  },
);
