import { describe, expect, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { ANA, BOB, openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import type { LiveTool } from "../host.ts";
import { oneApproval, type Requirement } from "../people/index.ts";
import { tryApprove, tryDeny } from "../testing/try-decide.ts";

const CHANGED: Partial<LiveTool> = {
  definitionDigest: "v2:changed",
  asking: { approvers: { users: ["ana"] }, expiresInMs: 1000 },
  showAgain: async () => ({
    shown: {
      hint: "Pay? (its description changed)",
      why: ["requireConfirmation", "definition changed"],
    },
    requirements: oneApproval({ users: ["ana"] }),
  }),
};

describe("the tool is not the one that was shown", () => {
  test("an approval is refused, the question cancelled, and asked anew with the difference", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay", args: { amount: 5 } });
    fixture.app.define("pay", CHANGED);
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    const reason = "the tool pay has changed since it was shown";
    expect(refused).toMatchObject({
      ok: false,
      code: "definition-changed",
      confirmation: { status: "requested", round: 1, shown: { hint: "Pay? (its description changed)" } },
    });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({
      status: "cancelled",
      withdrawal: reason,
      votes: [],
    });
    expect(fixture.app.runs).toEqual([]);

    const [next] = (await fixture.ledger.confirmations({ state: "open" })).items;
    expect(next?.confirmation).toMatchObject({
      call: call.id,
      requesters: ["ana"],
      requirements: oneApproval({ users: ["ana"] }),
      argsDigest: call.argsDigest,
      expiresAt: fixture.clock.now() + 1000,
    });
    expect(next?.call).toMatchObject({
      status: "waiting",
      attempt: 0,
      rounds: 2,
      confirmation: next?.confirmation.id,
      definitionDigest: "v2:changed",
    });
    expect((await fixture.kinds()).slice(-2)).toEqual(["confirmation-cancelled", "confirmation-requested"]);
    const events = await fixture.events(call.session);
    expect(events.slice(-2)).toMatchObject([
      {
        author: "user",
        closings: [{ id: confirmation.id, confirmed: false, closedBy: "withdrawal", reason }],
      },
      { author: "clerk", asks: [{ id: next?.confirmation.id, call: { id: "call-1", args: { amount: 5 } } }] },
    ]);
    expect((await fixture.ledger.load({ call: call.id }))?.session.open).toBe(1);
  });

  test("the old question can no longer be answered; the new one runs the call once", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    fixture.app.define("pay", CHANGED);
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({
      code: "withdrawn",
    });
    const next = refused.confirmation?.id ?? "";
    expect(await tryApprove(fixture.engine, next, { by: BOB })).toMatchObject({ code: "not-an-approver" });
    expect(await tryApprove(fixture.engine, next, { by: ANA })).toMatchObject({ ok: true });
    await fixture.engine.finished(call.id);
    expect(fixture.app.runs).toMatchObject([{ key: call.id, attempt: 1 }]);
  });

  test("approved elsewhere and found changed at the claim: cancelled, asked anew, not run", async () => {
    using file = createDatabaseFile();
    const front = await openEngineFixture({ url: file.url, hosts: false });
    const { confirmation, call } = await front.ask({ tool: "pay" });
    await front.engine.approve(confirmation.id, { by: ANA });
    const back = await openEngineFixture({ url: file.url, clock: front.clock });
    back.app.define("pay", CHANGED);
    await back.engine.work({ once: true });
    expect(back.app.runs).toEqual([]);
    expect(await back.confirmation(confirmation.id)).toMatchObject({ status: "cancelled" });
    expect(await back.call(call.id)).toMatchObject({ status: "waiting", rounds: 2 });
    // It was closed by the approval already: a client that reloads must not see it closed twice.
    const closings = (await back.events(call.session)).flatMap((event) => event.closings ?? []);
    expect(closings).toMatchObject([{ id: confirmation.id, confirmed: true }]);
    expect((await back.ledger.load({ call: call.id }))?.session.open).toBe(1);
  });

  test("and its arguments no longer fit: withdrawn, and the model is told why", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    fixture.app.define("pay", { ...CHANGED, showAgain: async () => undefined });
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    expect(refused).toMatchObject({ ok: false, code: "definition-changed", call: { status: "cancelled" } });
    expect(await fixture.call(call.id)).toMatchObject({
      status: "cancelled",
      result: { reason: "the tool pay has changed since it was shown" },
    });
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toEqual([]);
    expect(fixture.app.steps).toHaveLength(1);
  });

  test("a tool that has begun is not shown anew: what it did before its question was done by the old one", async () => {
    const fixture = await openEngineFixture();
    fixture.app.define("pay", {
      run: async (_call, context) => {
        context.requestConfirmation({ hint: "Sure?" });
        return null;
      },
    });
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    const approved = await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    expect(approved).toMatchObject({ ok: true });
    await fixture.engine.work({ once: true });
    fixture.app.define("pay", CHANGED);
    const second = (await fixture.call(call.id)).confirmation ?? "";
    expect(await tryApprove(fixture.engine, second, { by: ANA })).toMatchObject({
      code: "definition-changed",
      call: { status: "cancelled" },
    });
    expect(fixture.app.runs).toHaveLength(1);
  });
});

describe("a tool that changed does not lower what was required", () => {
  const [CARL, RITA] = [person("carl"), person("rita")];
  const apart = { notRequester: true } as const;
  const TWO = { from: { users: ["ana", "bob"], ...apart }, count: 2 };

  test.each<[string, readonly Requirement[], readonly Requirement[], readonly Requirement[]]>([
    ["nobody is named any more", [TWO], [], [TWO]],
    [
      "others are named",
      [TWO],
      [{ from: { users: ["carl"] }, count: 1 }],
      [TWO, { from: { users: ["carl"], ...apart }, count: 1 }],
    ],
    ["fewer are needed", [TWO], [{ from: { users: ["bob", "ana"] }, count: 1 }], [TWO]],
    [
      "somebody joined the group, and fewer are needed",
      [{ ...TWO, group: "finance" }],
      [{ from: { users: ["ana", "bob", "carl"] }, count: 1, group: "finance" }],
      [{ from: { users: ["ana", "bob", "carl"], ...apart }, count: 2, group: "finance" }],
    ],
  ])("%s", async (_, requirements, now, required) => {
    const directory = { group: () => ({ users: ["ana", "bob", "carl"] }), person: (id: string) => id };
    const policy = { ...directory, judge: () => undefined, version: "v1", text: "{}" };
    const fixture = await openEngineFixture({ policy });
    const { confirmation } = await fixture.ask({
      tool: "pay",
      question: { requirements, requesters: ["rita"] },
    });
    const shown = { hint: "Pay?", why: ["changed"] };
    fixture.app.define("pay", {
      ...CHANGED,
      showAgain: async () => ({ shown, requirements: now, denials: 2 }),
    });
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    const refused = await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(refused).toMatchObject({ ok: false, code: "definition-changed" });
    const next = refused.confirmation;
    expect(next?.requirements).toEqual(required);
    expect(next).not.toHaveProperty("denials");
    expect(await tryApprove(fixture.engine, next?.id ?? "", { by: RITA })).toMatchObject({
      code: "not-an-approver",
    });
    for (const by of [ANA, BOB, CARL]) await tryApprove(fixture.engine, next?.id ?? "", { by });
    expect(await fixture.confirmation(next?.id ?? "")).toMatchObject({ status: "approved" });
  });

  test("only those may fill in who could before, for what was required before, and not earlier", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({
      tool: "pay",
      question: {
        requirements: oneApproval({ users: ["ana"] }),
        requesters: ["rita"],
        escalate: [{ afterMs: 3_000, to: { users: ["bob"] }, fills: [0] }],
      },
    });
    const escalate = ["bob", "carl"].map((id) => ({ afterMs: 1_000, to: { users: [id] }, fills: [0] }));
    const again = {
      shown: { hint: "Pay?", why: [] },
      requirements: oneApproval({ users: ["ana"] }),
      escalate,
      expiresInMs: 9_000,
    };
    fixture.app.define("pay", { ...CHANGED, showAgain: async () => again });
    const { confirmation: next } = await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    expect(next?.escalations).toMatchObject([{ at: fixture.clock.now() + 3_000, to: { users: ["bob"] } }]);
  });
});

describe("the call must not run any more: withdrawn with its code, journaled, and the turn goes on", () => {
  test.each<[string, "tool-gone" | "policy-denied", string]>([
    ["the tool is gone", "tool-gone", "the tool pay no longer exists"],
    ["a rule denies it now", "policy-denied", "payments are frozen"],
  ])("%s", async (_, code, reason) => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    if (code === "tool-gone") fixture.app.remove("pay");
    else fixture.app.define("pay", { denies: () => reason });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({
      ok: false,
      code,
      message: `Withdrawn: ${reason}.`,
      confirmation: { status: "cancelled", withdrawal: reason },
    });
    expect(await fixture.call(call.id)).toMatchObject({
      status: "cancelled",
      attempt: 0,
      result: { error: "tool call was withdrawn before it ran", reason },
    });
    expect((await fixture.journal()).at(-1)).toMatchObject({
      kind: "confirmation-cancelled",
      body: { reason },
    });
    expect(fixture.app.runs).toEqual([]);
    expect(fixture.app.steps).toHaveLength(1);
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({
      code: "withdrawn",
    });
  });

  test("a denial needs no tool at all", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask({ tool: "pay" });
    fixture.app.remove("pay");
    expect(await tryDeny(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({
      ok: true,
      call: { status: "denied" },
    });
  });
});
