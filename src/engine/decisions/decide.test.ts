import { describe, expect, test, vi } from "vitest";
import { ANA, BOB, MANAGER, openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { oneApproval } from "../people/index.ts";
import { tryApprove, tryDeny } from "../testing/try-decide.ts";
import type { DecisionInput } from "./decision.ts";

/** Jumps ahead once it has been looked at so many times: what happens between a look and the next. */
class SlippingClock extends ManualClock {
  #looks = Number.POSITIVE_INFINITY;
  #byMs = 0;

  slipAfter(looks: number, byMs: number): void {
    this.#looks = looks;
    this.#byMs = byMs;
  }

  override now(): number {
    this.#looks -= 1;
    return super.now() + (this.#looks < 0 ? this.#byMs : 0);
  }
}

const NOON = "2026-01-01T00:00:00.000Z";

describe("the same decision again", () => {
  test("is answered with the stored one: no new vote, event or journal record", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay", args: { amount: 5 } });
    const first = await tryApprove(fixture.engine, confirmation.id, { by: ANA, payload: { note: "ok" } });
    if (!first.ok) throw new Error(first.message);
    expect(first).toMatchObject({ ok: true, repeated: false });
    await first.finished;
    const [events, journal] = [await fixture.events(call.session), await fixture.journal()];

    const again = await tryApprove(fixture.engine, confirmation.id, { by: ANA, payload: { note: "ok" } });
    expect(again).toMatchObject({
      ok: true,
      repeated: true,
      confirmation: { status: "approved", votes: [{ confirmed: true, by: { id: "ana" } }] },
      call: { status: "succeeded", result: { ok: true } },
    });
    expect(again.confirmation?.votes).toHaveLength(1);
    expect(await fixture.events(call.session)).toEqual(events);
    expect(await fixture.journal()).toEqual(journal);
    expect(fixture.app.runs).toHaveLength(1);
  });

  test("by somebody else who may decide is the same decision, and stays the first one's", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({
      tool: "pay",
      question: { requirements: oneApproval({ users: ["ana", "bob"] }) },
    });
    await fixture.engine.approve(confirmation.id, { by: ANA });
    const again = await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(again).toMatchObject({
      ok: true,
      repeated: true,
      confirmation: { votes: [{ by: { id: "ana" } }] },
    });
  });

  test("of a denial keeps the first reason, whatever the second says", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay" });
    await fixture.engine.deny(confirmation.id, { by: ANA, reason: "too much" });
    const again = await tryDeny(fixture.engine, confirmation.id, { by: ANA, reason: "never mind" });
    expect(again).toMatchObject({
      ok: true,
      repeated: true,
      confirmation: { votes: [{ reason: "too much" }] },
    });
  });

  test.each<[string, Omit<DecisionInput, "id" | "confirmed">, Omit<DecisionInput, "id" | "confirmed">]>([
    ["members in another order", { payload: { a: 1, b: 2 } }, { payload: { b: 2, a: 1 } }],
    ["the arguments spelled out", {}, { args: { amount: 5 } }],
    ["an old version named", { version: 1 }, { version: 7 }],
    ["another reason", { reason: "fine" }, { reason: "very well" }],
  ])("counts as the same with %s", async (_, first, second) => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", args: { amount: 5 } });
    await fixture.engine.approve(confirmation.id, { by: ANA, ...first });
    const again = await tryApprove(fixture.engine, confirmation.id, { by: ANA, ...second });
    expect(again).toMatchObject({ ok: true, repeated: true });
  });

  test("with the example spelled out, or the arguments sent back, is the one that took the example", async () => {
    const fixture = await openEngineFixture();
    const shown = { payload: { approved_days: 0 } };
    const { confirmation } = await fixture.ask({ tool: "leave", args: { days: 5 }, question: { shown } });
    await fixture.engine.approve(confirmation.id, { by: ANA });
    for (const payload of [{ approved_days: 0 }, { days: 5 }]) {
      const again = await tryApprove(fixture.engine, confirmation.id, { by: ANA, payload });
      expect(again).toMatchObject({ ok: true, repeated: true });
    }
  });

  test("through another engine on the same ledger is answered alike", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay" });
    await fixture.engine.deny(confirmation.id, { by: ANA });
    const { Engine } = await import("../engine.ts");
    const elsewhere = new Engine({ ledger: fixture.ledger, clock: fixture.clock });
    expect(await elsewhere.deny(confirmation.id, { by: ANA })).toMatchObject({ ok: true, repeated: true });
  });
});

describe("a different decision", () => {
  test.each<[string, Omit<DecisionInput, "id">, string]>([
    ["a denial of what was approved", { confirmed: false }, "approved"],
    ["another payload", { confirmed: true, payload: { note: "no" } }, "approved"],
    ["no payload where one was given", { confirmed: true }, "approved"],
    ["other arguments", { confirmed: true, payload: { note: "ok" }, args: { amount: 6 } }, "approved"],
  ])("is refused and says who decided what and when: %s", async (_, second, verdict) => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", args: { amount: 5 } });
    await fixture.engine.approve(confirmation.id, { by: ANA, payload: { note: "ok" } });
    await fixture.clock.advance(60_000);
    const journal = await fixture.journal();
    const refused = await fixture.engine.decisions.decide({ id: confirmation.id, ...second }, { by: ANA });
    expect(refused).toMatchObject({
      ok: false,
      code: "already-decided",
      message: `ana ${verdict} this at ${NOON}.`,
      confirmation: { votes: [{ confirmed: true, by: { id: "ana" }, at: Date.parse(NOON) }] },
    });
    expect(await fixture.journal()).toEqual(journal);
  });

  test("an approval of what was denied never runs it", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    await fixture.engine.deny(confirmation.id, { by: ANA });
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    expect(refused).toMatchObject({
      ok: false,
      code: "already-decided",
      message: `ana denied this at ${NOON}.`,
    });
    expect(await fixture.call(call.id)).toMatchObject({ status: "denied", attempt: 0 });
    expect(fixture.app.runs).toEqual([]);
  });

  test("one that would not have been valid is not the same as the one that was", async () => {
    const fixture = await openEngineFixture();
    const schema = { type: "object", required: ["days"] };
    const { confirmation } = await fixture.ask({ tool: "leave", question: { shown: { schema } } });
    await fixture.engine.approve(confirmation.id, { by: ANA, payload: { days: 1 } });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({
      code: "already-decided",
    });
  });
});

describe("refusals come in one order", () => {
  const rule = { requirements: oneApproval({ roles: ["manager"] }) };

  test("404 first: what is not there is unknown to everybody", async () => {
    const fixture = await openEngineFixture();
    const refused = await fixture.engine.decisions.decide(
      { id: "adk-nothing", confirmed: true, version: 9 },
      { by: BOB },
    );
    expect(refused).toMatchObject({ ok: false, code: "unknown-confirmation" });
    expect(await fixture.journal()).toEqual([]);
  });

  test("403 before 409: who may not decide does not learn who did", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", question: rule });
    await fixture.engine.deny(confirmation.id, { by: MANAGER });
    const refused = await fixture.engine.decisions.decide(
      { id: confirmation.id, confirmed: true, version: 9 },
      { by: ANA },
    );
    expect(refused).toMatchObject({ ok: false, code: "not-an-approver" });
    expect(refused.ok ? "" : refused.message).not.toContain("maria");
  });

  test("409 before 412: a decided question answers so, whichever version was seen", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", question: rule });
    await fixture.engine.deny(confirmation.id, { by: MANAGER });
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: MANAGER, version: 9 });
    expect(refused).toMatchObject({ ok: false, code: "already-decided" });
  });

  test("expired before 412: a late decision expires the question, whichever version was seen", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", question: { expiresInMs: 1 } });
    await fixture.clock.advance(1);
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: ANA, version: 9 });
    expect(refused).toMatchObject({ ok: false, code: "expired", confirmation: { status: "expired" } });
  });

  test.each([0, 2, -1, 1.5])("412: version %d was not shown, so it decides nothing", async (version) => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay" });
    const journal = await fixture.journal();
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: ANA, version });
    expect(refused).toMatchObject({
      ok: false,
      code: "stale-version",
      confirmation: { status: "requested" },
    });
    expect(await fixture.journal()).toEqual(journal);
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA, version: 1 })).toMatchObject({
      ok: true,
    });
  });
});

describe("a decision by someone the rule does not admit", () => {
  test("is audited, with who tried what, and by which way in, and changes nothing else", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({
      tool: "pay",
      question: { requirements: oneApproval({ roles: ["manager"] }) },
    });
    const before = {
      confirmation: await fixture.confirmation(confirmation.id),
      call: await fixture.call(call.id),
      events: await fixture.events(call.session),
    };
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: BOB, via: "http" });
    expect(refused).toMatchObject({
      ok: false,
      code: "not-an-approver",
      message: "bob may not decide this. Approvers: the role manager.",
    });
    expect((await fixture.journal()).at(-1)).toMatchObject({
      kind: "decision-refused",
      body: {
        confirmation: confirmation.id,
        call: call.id,
        code: "not-an-approver",
        by: { id: "bob", kind: "oidc", authenticated: true },
        via: "http",
        confirmed: true,
      },
    });
    expect({
      confirmation: await fixture.confirmation(confirmation.id),
      call: await fixture.call(call.id),
      events: await fixture.events(call.session),
    }).toEqual(before);
    expect(await fixture.engine.verify()).toMatchObject({ ok: true });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: MANAGER })).toMatchObject({ ok: true });
  });

  test.each([
    ["requester", "the requester"],
    [{ users: ["max"], roles: ["cfo"] }, "the role cfo or max"],
    [{ notRequester: true }, "any other logged-in user (not the requester)"],
    [{}, "any other logged-in user"],
  ] as const)("is told who may: %j", async (approvers, who) => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({
      tool: "pay",
      question: { requirements: oneApproval(approvers) },
    });
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: { ...BOB, kind: "agent" } });
    expect(refused).toMatchObject({ message: `bob may not decide this. Approvers: ${who}.` });
  });
});

describe("what cannot be a decision", () => {
  test.each<[string, Record<string, unknown>]>([
    ["a text for the verdict", { confirmed: "true" }],
    ["a text that says no", { confirmed: "false" }],
    ["a number for the verdict", { confirmed: 1 }],
    ["an object for the verdict", { confirmed: {} }],
    ["no verdict", { confirmed: undefined }],
    ["null for the verdict", { confirmed: null }],
    ["a payload that is not JSON", { confirmed: true, payload: { n: Number.NaN } }],
    ["arguments that are not JSON", { confirmed: true, args: { at: new Date(0) } }],
    ["an object for the reason", { confirmed: false, reason: { text: "no" } }],
    ["an object for the id", { id: {}, confirmed: true }],
  ])("decides nothing: %s", async (_, given) => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    const input = { id: confirmation.id, ...given } as unknown as DecisionInput;
    expect(await fixture.engine.decisions.decide(input, { by: ANA })).toMatchObject({
      ok: false,
      code: "malformed-decision",
    });
    expect(await fixture.call(call.id)).toMatchObject({ status: "waiting" });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested", votes: [] });
  });
});

describe("the deadline", () => {
  const question = { expiresInMs: 1000 };

  test("one millisecond before it a decision stands", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", question });
    await fixture.clock.advance(999);
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({ ok: true });
  });

  test.each([true, false])(
    "at its very millisecond a decision (confirmed: %s) comes too late",
    async (confirmed) => {
      const fixture = await openEngineFixture();
      const { confirmation, call } = await fixture.ask({ tool: "pay", question });
      await fixture.clock.advance(1000);
      const refused = await fixture.engine.decisions.decide({ id: confirmation.id, confirmed }, { by: ANA });
      expect(refused).toMatchObject({ ok: false, code: "expired" });
      expect(await fixture.call(call.id)).toMatchObject({
        status: "expired",
        result: { error: "tool call expired before it was approved" },
      });
      expect(fixture.app.runs).toEqual([]);
    },
  );

  test("a late decision performs the expiry in its own transaction, not as a rejection", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay", question });
    await fixture.clock.advance(5000);
    const refused = await tryDeny(fixture.engine, confirmation.id, { by: ANA, reason: "no" });
    expect(refused).toMatchObject({
      ok: false,
      code: "expired",
      confirmation: { status: "expired", votes: [] },
    });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "expired", votes: [] });
    expect((await fixture.kinds()).slice(-1)).toEqual(["confirmation-expired"]);
    const closings = (await fixture.events(call.session)).flatMap((event) => event.closings ?? []);
    expect(closings).toEqual([
      { id: confirmation.id, callId: "call-1", confirmed: false, closedBy: "expiry" },
    ]);
  });

  test.each([true, false])(
    "that passes between judging and committing is noticed by the ledger (confirmed: %s)",
    async (confirmed) => {
      const clock = new SlippingClock();
      const fixture = await openEngineFixture({ clock });
      const { confirmation, call } = await fixture.ask({ tool: "pay", question });
      clock.slipAfter(1, question.expiresInMs);
      const refused = await fixture.engine.decisions.decide({ id: confirmation.id, confirmed }, { by: ANA });
      expect(refused).toMatchObject({ ok: false, code: "expired", confirmation: { status: "expired" } });
      expect(await fixture.call(call.id)).toMatchObject({ status: "expired", attempt: 0 });
      expect(fixture.app.runs).toEqual([]);
    },
  );

  test("a stranger's late decision expires nothing", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", question });
    await fixture.clock.advance(5000);
    expect(await tryApprove(fixture.engine, confirmation.id, { by: BOB })).toMatchObject({
      code: "not-an-approver",
    });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
  });

  test("once recorded, everybody who may decide learns of it, and nothing is written again", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay", question });
    await fixture.clock.advance(1000);
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    const journal = await fixture.journal();
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({
      ok: false,
      code: "expired",
      message: "The deadline was 2026-01-01T00:00:01.000Z. The call did not run, and the model was told.",
    });
    expect(await fixture.journal()).toEqual(journal);
  });
});

describe("a denial", () => {
  test("reaches the model with its reason, and the body is not entered", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    const denied = await tryDeny(fixture.engine, confirmation.id, { by: ANA, reason: "too much" });
    expect(denied).toMatchObject({ ok: true, call: { status: "denied" } });
    const answer = { error: "tool call was rejected by the user", reason: "too much" };
    expect(await fixture.call(call.id)).toMatchObject({ status: "denied", attempt: 0, result: answer });
    const responses = (await fixture.events(call.session)).flatMap((event) => event.content?.parts ?? []);
    expect(responses.at(-1)).toEqual({ functionResponse: { id: "call-1", name: "pay", response: answer } });
    expect(fixture.app.runs).toEqual([]);
  });

  test("without a reason says only that it was rejected", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    await fixture.engine.deny(confirmation.id, { by: ANA });
    expect((await fixture.call(call.id)).result).toEqual({ error: "tool call was rejected by the user" });
  });

  test("needs no payload where an approval would, and keeps none", async () => {
    const fixture = await openEngineFixture();
    const schema = { type: "object", required: ["days"] };
    const { confirmation } = await fixture.ask({ tool: "leave", question: { shown: { schema } } });
    expect(await tryDeny(fixture.engine, confirmation.id, { by: ANA, payload: { days: "x" } })).toMatchObject(
      {
        ok: true,
      },
    );
    expect((await fixture.confirmation(confirmation.id)).votes[0]).not.toHaveProperty("payload");
  });

  test("does not touch its siblings", async () => {
    const fixture = await openEngineFixture();
    const [first, second] = await fixture.askAll([{ tool: "pay" }, { tool: "wire" }]);
    await fixture.engine.deny(first!.confirmation.id, { by: ANA });
    expect(await fixture.call(second!.call.id)).toMatchObject({ status: "waiting" });
    expect(fixture.app.steps).toEqual([]);
    const approved = await tryApprove(fixture.engine, second!.confirmation.id, { by: ANA });
    if (approved.ok) await approved.finished;
    expect(fixture.app.runs.map(({ tool }) => tool)).toEqual(["wire"]);
    expect(fixture.app.steps).toHaveLength(1);
  });
});

test("many decisions in one call have each its own result; one that is refused does not touch the others", async () => {
  const fixture = await openEngineFixture();
  const [a, b, c] = await fixture.askAll([
    { tool: "pay" },
    { tool: "wire", question: { requirements: oneApproval({ roles: ["manager"] }) } },
    { tool: "mail" },
  ]);
  const results = await fixture.engine.decide(
    [
      { id: a!.confirmation.id, confirmed: true },
      { id: b!.confirmation.id, confirmed: true },
      { id: "adk-nothing", confirmed: true },
      { id: a!.confirmation.id, confirmed: false },
      { id: c!.confirmation.id, confirmed: false, reason: "no" },
      { id: a!.confirmation.id, confirmed: true },
    ],
    { by: person("ana") },
  );
  expect(results.map((result) => (result.ok ? `ok ${result.repeated}` : result.code))).toEqual([
    "ok false",
    "not-an-approver",
    "unknown-confirmation",
    "already-decided",
    "ok false",
    "ok true",
  ]);
  await fixture.engine.finished(a!.call.id);
  expect(fixture.app.runs.map(({ tool }) => tool)).toEqual(["pay"]);
  expect(await fixture.call(b!.call.id)).toMatchObject({ status: "waiting" });
});

test("one that cannot even be judged is its own result, and the others keep theirs", async () => {
  const fixture = await openEngineFixture();
  const [a, b, c] = await fixture.askAll([{ tool: "pay" }, { tool: "wire" }, { tool: "mail" }]);
  fixture.app.define("wire", {
    denies: () => {
      throw new Error("the policy cannot be read");
    },
  });
  const results = await fixture.engine.decide(
    [a, b, c].map((asked) => ({ id: asked!.confirmation.id, confirmed: true })),
    { by: ANA },
  );
  expect(results.map((result) => (result.ok ? "ok" : result.code))).toEqual(["ok", "internal", "ok"]);
  expect(JSON.stringify(results[1])).not.toContain("policy");
  expect(await fixture.confirmation(b!.confirmation.id)).toMatchObject({ status: "requested", votes: [] });
});

async function seenDesk() {
  const fixture = await openEngineFixture();
  const { confirmation } = await fixture.ask({ tool: "pay", args: { amount: 5 } });
  const { id } = confirmation;
  const seen = await fixture.engine.ledger.load({ confirmation: id });
  const load = vi.spyOn(fixture.engine.ledger, "load");
  return { fixture, id, seen, load };
}

describe("a decision by somebody who has just read the question", () => {
  test("reads it once, not twice", async () => {
    const { fixture, id, seen, load } = await seenDesk();
    expect(await fixture.engine.decisions.decide({ id, confirmed: true }, { by: ANA }, seen)).toMatchObject({
      ok: true,
    });
    expect(load).not.toHaveBeenCalled();
  });

  test("is judged on what is now, if it was decided since", async () => {
    const { fixture, id, seen } = await seenDesk();
    await fixture.engine.deny(id, { by: ANA, reason: "no" });
    const late = await fixture.engine.decisions.decide({ id, confirmed: true }, { by: ANA }, seen);
    expect(late).toMatchObject({ ok: false, code: "already-decided" });
    expect(fixture.app.runs).toEqual([]);
  });

  test("does not count for another question", async () => {
    const { fixture, seen } = await seenDesk();
    const other = await fixture.ask({
      tool: "pay",
      question: { requirements: oneApproval({ users: ["bob"] }) },
    });
    const decided = await fixture.engine.decisions.decide(
      { id: other.confirmation.id, confirmed: true },
      { by: ANA },
      seen,
    );
    expect(decided).toMatchObject({ ok: false, code: "not-an-approver" });
  });
});
