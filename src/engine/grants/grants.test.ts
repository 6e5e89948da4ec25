import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonValue } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import type { PolicyVerdict } from "../gate/index.ts";
import { viewsAs } from "../people/viewers.ts";
import { approver, BOT, HOUR, Payments, SCOPES, type Scope } from "../testing/granting.ts";

let shop: Payments;
/** What says that a grant is for all sessions, where it is. */
let wide: { readonly scope?: Scope };

async function start(scope: Scope): Promise<void> {
  const clock = new ManualClock();
  shop = new Payments(await createLedger("memory:", { clock }), { clock, scope });
  wide = scope === "user" ? { scope } : {};
}

afterEach(() => shop.engine.close());

async function callOf(id: string) {
  const [call] = await shop.ledger.calls([id]);
  return call;
}

async function tried(grant: object, by = "ana", more: object = {}) {
  const { confirmation } = await shop.pay();
  const input = { id: confirmation?.id ?? "", confirmed: true, grant, ...more };
  return shop.engine.decisions.decide(input, { by: approver(by) });
}

/** A payment under a grant whose outcome is unknown. */
async function unknownPayment() {
  const call = await shop.pay();
  const named = { by: "bot", key: call.key };
  await shop.engine.callers.claim(named, { leaseMs: 60_000 });
  await shop.clock.advance(120_000);
  await shop.engine.work({ once: true });
  expect(await shop.engine.callers.read(named)).toMatchObject({ status: "unknown" });
  return { call, named };
}

describe.each(SCOPES)("for the scope %s:", (scope) => {
  beforeEach(() => start(scope));

  describe("an approval with a grant", () => {
    test("lets so many further calls run, and then people are asked again", async () => {
      const first = await shop.pay();
      expect(first.confirmation).toMatchObject({
        grants: { forMs: HOUR, count: 3, sum: { amount: 100 } },
      });
      await shop.engine.approve(first.confirmation?.id ?? "", {
        by: approver("ana"),
        grant: { ...wide, count: 2 },
      });
      const [minted] = await shop.records("grant-minted");
      expect(minted).toMatchObject({
        call: first.id,
        agent: "buyer",
        by: ["ana"],
        limits: { forMs: HOUR, count: 2, sum: { amount: 100 } },
      });
      expect(await shop.engine.confirmation(first.confirmation?.id ?? "")).toMatchObject({
        decision: { grant: { count: 2 } },
      });
      for (const uses of [1, 2]) {
        const call = await shop.pay();
        expect(call).toMatchObject({ status: "allowed" });
        expect(call).not.toHaveProperty("confirmation");
        expect(await callOf(call.id)).toMatchObject({ grant: { id: minted?.["grant"], by: ["ana"] } });
        expect((await shop.records("grant-used")).at(-1)).toMatchObject({ call: call.id, uses });
        const { claim } = await shop.engine.callers.claim({ by: "bot", key: call.key }, { leaseMs: 60_000 });
        expect(claim).toMatchObject({ attempt: 1 });
      }
      expect(await shop.pay()).toMatchObject({ status: "pending" });
      expect(await shop.refusal()).toBe("all 2 uses are used up");
      const { items } = await shop.engine.grants({ by: approver("bob") });
      expect(items).toMatchObject([
        { status: "used-up", uses: 2, spent: { amount: "20" }, by: ["ana"], session: "t1" },
      ]);
      expect(await shop.engine.verify()).toMatchObject({ ok: true });
    });

    test("adds up exactly to its sum, and not a cent more", async () => {
      shop.policy.grants = { forMs: HOUR, count: 9, sum: { amount: 0.3 } };
      await shop.grant();
      for (let use = 0; use < 3; use++)
        expect(await shop.pay({ amount: 0.1 })).toMatchObject({ status: "allowed" });
      expect(await shop.pay({ amount: 0.01 })).toMatchObject({ status: "pending" });
      expect(await shop.refusal()).toBe("the argument amount would add up to 0.31; the most is 0.3");
      expect(await shop.pay({ amount: 0 })).toMatchObject({ status: "allowed" });
    });

    const odd: readonly (readonly [string, JsonValue | undefined])[] = [
      ["negative", -50],
      ["missing", undefined],
      ["a text", "5"],
      ["null", null],
      ["1e308", 1e308],
      ["tiny", 1e-7],
      ["more digits than a number holds", 0.1 + 0.2],
      ["a list", [5]],
      ["minus zero", -0],
    ];
    test.each(odd)("does not cover an amount that is %s", async (_what, amount) => {
      await shop.grant();
      const args = amount === undefined ? {} : { amount };
      expect(await shop.pay(args)).toMatchObject({ status: "pending" });
      expect(await shop.refusal()).toContain("the argument amount");
      const { items } = await shop.engine.grants({ by: approver("ana") });
      expect(items).toMatchObject([{ uses: 0, spent: {} }]);
    });

    test("an argument called __proto__ is added up like any other", async () => {
      const sum = JSON.parse('{"__proto__": 5}') as { readonly [name: string]: number };
      const args = JSON.parse('{"__proto__": 4}') as { readonly [name: string]: number };
      shop.policy.grants = { forMs: HOUR, count: 9, sum };
      await shop.grant();
      expect(await shop.pay(args)).toMatchObject({ status: "allowed" });
      expect(await shop.pay(args)).toMatchObject({ status: "pending" });
    });

    test("ends by the ledger's clock", async () => {
      await shop.grant({ forMs: 1_000 });
      await shop.clock.advance(999);
      expect(await shop.pay()).toMatchObject({ status: "allowed" });
      await shop.clock.advance(1);
      expect(await shop.pay()).toMatchObject({ status: "pending" });
      expect((await shop.engine.grants({ by: approver("ana") })).items).toEqual([]);
    });
  });

  describe("a grant is not for", () => {
    test.each([
      ["another agent", { agent: "seller" }, "it is for the agent buyer"],
      ["a changed tool", { description: "pays twice" }, "the tool has changed since it was given"],
      ["another requester", { by: { ...BOT, onBehalfOf: "eve" } }, "somebody else asked for this call"],
    ])("%s", async (_what, more, reason) => {
      await shop.grant();
      expect(await shop.pay({ amount: 1 }, more)).toMatchObject({ status: "pending" });
      // Those for all sessions are found by who asks.
      const isFound = scope === "session" || !("by" in more);
      expect(await shop.refusal()).toBe(isFound ? reason : "");
      expect(await shop.pay()).toMatchObject({ status: "allowed" });
    });

    test("a call that its rules deny, or for which a rule allows no grants", async () => {
      await shop.grant();
      const deny: PolicyVerdict = { outcome: "deny", reason: "never" };
      shop.policy.more = ({ args }) => (args["to"] === "mallory" ? [deny] : []);
      expect(await shop.pay({ amount: 1, to: "mallory" })).toMatchObject({ status: "denied" });
      shop.policy.more = () => [{ outcome: "confirm", reason: "big", rule: "big" }];
      expect(await shop.pay()).toMatchObject({ status: "pending" });
      // Those for all sessions are not even looked for.
      const reason = "the rules that ask for this call allow no grant";
      expect(await shop.refusal()).toBe(scope === "session" ? reason : "");
    });

    test("a call that needs approvals which it does not have", async () => {
      await shop.grant();
      const legal = { from: { users: ["leo"] }, count: 1 };
      const grants = { ...wide, forMs: HOUR, count: 9 };
      shop.policy.more = () => [{ outcome: "confirm", reason: "big", requirements: [legal], grants }];
      expect(await shop.pay()).toMatchObject({ status: "pending" });
      expect(await shop.refusal()).toBe("this call needs approvals that the grant does not have");
      shop.policy.more = () => [];
      shop.policy.count = 2;
      expect(await shop.pay()).toMatchObject({ status: "pending" });
    });

    test("calls for which the rules now allow less", async () => {
      await shop.grant({ count: 3 });
      shop.policy.grants = { forMs: HOUR, count: 2, sum: { amount: 100 } };
      expect(await shop.pay()).toMatchObject({ status: "pending" });
      expect(await shop.refusal()).toBe("it goes further than the rules for this call allow");
      shop.policy.grants = { forMs: HOUR, count: 3, sum: { amount: 100, fee: 1 } };
      expect(await shop.pay()).toMatchObject({ status: "pending" });
    });

    test("calls after its giver left the group", async () => {
      await shop.grant({}, "ana");
      shop.policy.members = ["bob"];
      expect(await shop.pay()).toMatchObject({ status: "pending" });
      expect(await shop.refusal()).toBe("the approvals behind it no longer count");
    });
  });

  describe("who may grant what", () => {
    test.each([
      [{ count: 4 }],
      [{ forMs: HOUR + 1 }],
      [{ sum: { amount: 101 } }],
      [{ sum: { amount: -1 } }],
      [{ sum: { amount: 1e308 } }],
      [{ sum: 5 }],
      [{ count: 0 }],
      [{ count: 1.5 }],
      [{ forMs: Number.NaN }],
      [{ until: "tomorrow" }],
      [[]],
    ])("nobody may grant %j", async (grant) => {
      expect(await tried(grant)).toMatchObject({ ok: false, code: "grant-refused", field: "grant" });
      expect(await shop.records("grant-minted")).toEqual([]);
      expect(await shop.records("confirmation-approved")).toEqual([]);
    });

    test("nobody may grant where the rules say nothing of it, with other arguments, or with a denial", async () => {
      expect(await tried({}, "ana", { args: { amount: 2 } })).toMatchObject({ code: "malformed-decision" });
      expect(await tried({}, "ana", { confirmed: false })).toMatchObject({ code: "malformed-decision" });
      shop.policy.grants = undefined;
      expect(await tried({})).toMatchObject({ ok: false, code: "grant-refused" });
    });

    test("the requester, where a rule says that they may not approve, grants nothing", async () => {
      shop.policy.members = ["ana", "rita"];
      expect(await tried({}, "rita")).toMatchObject({ ok: false, code: "not-an-approver" });
      expect(await shop.records("grant-minted")).toEqual([]);
    });

    test("several rules that ask: the tightest of all", async () => {
      shop.policy.more = () => [
        { outcome: "confirm", reason: "more", grants: { forMs: HOUR * 2, count: 1, sum: { fee: 2 } } },
      ];
      const { confirmation } = await shop.pay();
      expect(confirmation).toMatchObject({
        grants: { forMs: HOUR, count: 1, sum: { amount: 100, fee: 2 } },
      });
    });

    test("where two must approve, both must grant the same", async () => {
      shop.policy.count = 2;
      const { confirmation } = await shop.pay();
      const id = confirmation?.id ?? "";
      await shop.engine.approve(id, { by: approver("ana"), grant: { ...wide, count: 2 } });
      expect(await shop.engine.confirmation(id)).toMatchObject({ votes: [{ grant: { count: 2 } }] });
      for (const grant of [undefined, { count: 3 }]) {
        const input = { id, confirmed: true, ...(grant === undefined ? {} : { grant }) };
        const other = await shop.engine.decisions.decide(input, { by: approver("bob") });
        expect(other).toMatchObject({ ok: false, code: "grant-refused" });
      }
      await shop.engine.approve(id, { by: approver("bob"), grant: { ...wide, count: 2 } });
      expect(await shop.records("grant-minted")).toMatchObject([{ by: ["ana", "bob"] }]);
      expect(await shop.pay()).toMatchObject({ status: "allowed" });
    });

    test("the same approval with the same grant again mints nothing; with another one it is refused", async () => {
      const { confirmation } = await shop.pay();
      const decide = (count: number) =>
        shop.engine.decisions.decide(
          { id: confirmation?.id ?? "", confirmed: true, grant: { ...wide, count } },
          { by: approver("ana") },
        );
      expect(await decide(1)).toMatchObject({ ok: true, repeated: false });
      expect(await decide(1)).toMatchObject({ ok: true, repeated: true });
      expect(await decide(2)).toMatchObject({ ok: false, code: "already-decided" });
      expect(await shop.records("grant-minted")).toHaveLength(1);
    });

    test("a session holds twenty grants at most", async () => {
      shop.policy.grants = { forMs: HOUR, count: 1, sum: { amount: 0.5 } };
      for (let made = 0; made < 20; made++) await shop.grant();
      expect(await tried({ ...wide })).toMatchObject({ ok: false, code: "grant-refused" });
      await shop.clock.advance(HOUR);
      expect(await tried({ ...wide })).toMatchObject({ ok: true });
    });
  });

  describe("revoking", () => {
    test("binds the next call; those who may decide may, and administrators, and nobody else", async () => {
      const id = await shop.grant();
      const stranger = { ...approver("eve") };
      const agent = { ...approver("ana"), kind: "agent" as const };
      for (const by of [stranger, agent]) {
        await expect(shop.engine.revokeGrant(id, { by })).rejects.toMatchObject({ code: "not-an-approver" });
        expect((await shop.engine.grants({ by })).items).toEqual([]);
      }
      const admin = { ...approver("otto"), scopes: ["admin"] };
      expect((await shop.engine.grants({ by: admin })).items).toMatchObject([{ id, status: "active" }]);
      expect(await shop.engine.revokeGrant(id, { by: approver("bob"), reason: "enough" })).toMatchObject({
        status: "revoked",
        revoked: { by: "bob", reason: "enough" },
      });
      expect(await shop.pay()).toMatchObject({ status: "pending" });
      expect(await shop.engine.revokeGrant(id, { by: admin })).toMatchObject({ revoked: { by: "bob" } });
      expect(await shop.records("grant-revoked")).toMatchObject([
        { grant: id, by: { id: "bob" }, reason: "enough", uses: 0 },
      ]);
      const unknown = shop.engine.revokeGrant("nothing.grant-x", { by: admin });
      await expect(unknown).rejects.toMatchObject({ code: "unknown-grant" });
    });

    test("a call that was allowed and has not started does not start", async () => {
      const id = await shop.grant();
      const call = await shop.pay();
      await shop.engine.revokeGrant(id, { by: approver("ana") });
      const { claim, outcome } = await shop.engine.callers.claim(
        { by: "bot", key: call.key },
        { leaseMs: 60_000 },
      );
      expect(claim).toBeUndefined();
      expect(outcome).toMatchObject({ status: "cancelled", reason: `the grant ${id} was revoked` });
    });

    test("nor does one whose grant ended before it started", async () => {
      await shop.grant({ forMs: 1_000 });
      const call = await shop.pay();
      await shop.clock.advance(1_000);
      const { claim } = await shop.engine.callers.claim({ by: "bot", key: call.key }, { leaseMs: 60_000 });
      expect(claim).toBeUndefined();
    });

    test("of sixteen uses and a revocation at once, no use is after the revocation", async () => {
      shop.policy.grants = { forMs: HOUR, count: 100, sum: { amount: 1_000 } };
      const id = await shop.grant();
      const pays = Array.from({ length: 16 }, () => shop.pay());
      await Promise.all([
        ...pays.slice(0, 8),
        shop.engine.revokeGrant(id, { by: approver("ana") }),
        ...pays.slice(8),
      ]);
      const records = await shop.ledger.journal.records({ after: 0, limit: 1_000 });
      const kinds = records.map(({ kind }) => kind);
      const revoked = kinds.indexOf("grant-revoked");
      expect(revoked).toBeGreaterThan(0);
      expect(kinds.slice(revoked)).not.toContain("grant-used");
      const used = kinds.filter((kind) => kind === "grant-used").length;
      expect(await shop.records("grant-revoked")).toMatchObject([{ uses: used }]);
    });

    test("a restored ledger has no grants left", async () => {
      const id = await shop.grant();
      const report = await shop.engine.markRestored({ by: { id: "ops" } });
      expect(report).toMatchObject({ grants: 1 });
      expect(await shop.pay()).toMatchObject({ status: "pending" });
      expect(await shop.records("grant-revoked")).toMatchObject([{ grant: id, by: { id: "ops" } }]);
      expect(await shop.engine.markRestored({ by: { id: "ops" } })).toMatchObject({ grants: 0 });
    });

    test("a deleted session has none", async () => {
      await shop.grant();
      const [{ session } = { session: undefined }] = (await shop.ledger.grants()).items;
      if (session === undefined) throw new Error("no grant");
      await shop.engine.deleteSession(session, { id: "rita" });
      expect((await shop.ledger.grants()).items).toEqual([]);
    });
  });

  describe("what a use counts", () => {
    test("a failed call is counted, and stays counted", async () => {
      await shop.grant({ count: 1 });
      const call = await shop.pay();
      const named = { by: "bot", key: call.key };
      const { claim } = await shop.engine.callers.claim(named, { leaseMs: 60_000 });
      if (claim === undefined) throw new Error("no claim");
      await shop.engine.callers.end(named, claim, { kind: "failed", error: { error: "no money" } });
      expect(await shop.pay()).toMatchObject({ status: "pending" });
    });

    test("those who may give such a grant settle its calls, not the requester; nobody runs one again", async () => {
      await shop.grant({ count: 2 });
      const { call, named } = await unknownPayment();
      const failed = { as: "failed", error: "it did not happen" } as const;
      for (const settlement of [failed, { as: "retry" } as const]) {
        const settled = shop.engine.settleCall(call.id, settlement, { by: approver("rita") });
        await expect(settled).rejects.toMatchObject({ code: "not-an-approver" });
      }
      const retried = shop.engine.settleCall(call.id, { as: "retry" }, { by: approver("ana") });
      await expect(retried).rejects.toMatchObject({ code: "not-settleable" });
      expect((await shop.engine.callers.claim(named, { leaseMs: 60_000 })).claim).toBeUndefined();
      const { items: anas } = await shop.ledger.unknownCalls({
        unasked: true,
        askedBy: ["ana"],
        grantedTo: viewsAs(approver("ana")),
      });
      expect(anas).toMatchObject([{ id: call.id }]);
      const { items: eves } = await shop.ledger.unknownCalls({
        unasked: true,
        askedBy: ["eve"],
        ofAgents: true,
        grantedTo: viewsAs(approver("eve")),
      });
      expect(eves).toEqual([]);
      // Also when the grant is over and a new one has taken its place.
      await shop.clock.advance(HOUR);
      await shop.grant({}, "bob");
      await shop.engine.settleCall(call.id, failed, { by: approver("ana") });
      expect(await shop.engine.callers.read(named)).toMatchObject({ status: "failed" });
    });
  });

  describe("a grant ends with what it rests on", () => {
    test("with the approval that gave it", async () => {
      const { confirmation } = await shop.pay();
      const id = confirmation?.id ?? "";
      await shop.engine.approve(id, { by: approver("ana"), grant: { ...wide } });
      await shop.engine.cancel(id, { by: approver("ana"), reason: "a mistake" });
      expect(await shop.records("grant-revoked")).toMatchObject([
        { by: { id: "ana" }, reason: "the approval that gave it was withdrawn" },
      ]);
      expect(await shop.pay()).toMatchObject({ status: "pending" });
    });

    test("with the approval that was withdrawn because the agent cancelled its call", async () => {
      const first = await shop.pay();
      await shop.engine.approve(first.confirmation?.id ?? "", { by: approver("ana"), grant: { ...wide } });
      await shop.engine.callers.cancel({ by: "bot", key: first.key }, "not needed");
      expect(await shop.records("grant-revoked")).toHaveLength(1);
      expect(await shop.pay()).toMatchObject({ status: "pending" });
    });

    test("with a denial of a call of the same tool, and of no other", async () => {
      await shop.grant();
      const refund = await shop.pay({ amount: 5 }, { tool: "refund" });
      await shop.engine.deny(refund.confirmation?.id ?? "", { by: approver("ana") });
      expect(await shop.pay()).toMatchObject({ status: "allowed" });
      const large = await shop.pay({ amount: 1_000 });
      await shop.engine.deny(large.confirmation?.id ?? "", { by: approver("bob") });
      expect(await shop.records("grant-revoked")).toMatchObject([
        { by: { id: "bob" }, reason: "a call of the tool was denied" },
      ]);
      expect(await shop.pay()).toMatchObject({ status: "pending" });
    });
  });

  describe("a person decides on what a person is asked about", () => {
    test("the same call does not run under a grant meanwhile", async () => {
      const asked = await shop.pay({ amount: 7 });
      await shop.grant();
      expect(await shop.pay({ amount: 7 })).toMatchObject({ status: "pending" });
      const which = scope === "session" ? "this" : "another";
      expect(await shop.refusal()).toBe(`a person has still to decide on the same call of ${which} session`);
      expect(asked).toMatchObject({ status: "pending" });
      expect(await shop.pay({ amount: 8 })).toMatchObject({ status: "allowed" });
    });

    test.each([
      ["another rule", {}, "big"],
      ["the tool's author", { requireConfirmation: true }, undefined],
    ])("a call about which %s asks as well is not covered", async (_what, more, rule) => {
      await shop.grant();
      const grants = { ...wide, forMs: HOUR, count: 9 };
      if (rule !== undefined) shop.policy.more = () => [{ outcome: "confirm", reason: "big", rule, grants }];
      expect(await shop.pay({ amount: 1 }, more)).toMatchObject({ status: "pending" });
      expect(await shop.refusal()).toBe(
        "something asks for this call that did not ask when the grant was given",
      );
    });
  });

  describe("a call that was allowed does not start", () => {
    test("after a giver of its grant left the group", async () => {
      const id = await shop.grant({}, "ana");
      const call = await shop.pay();
      shop.policy.members = ["bob"];
      const { claim, outcome } = await shop.engine.callers.claim(
        { by: "bot", key: call.key },
        { leaseMs: 60_000 },
      );
      expect(claim).toBeUndefined();
      expect(outcome).toMatchObject({
        status: "cancelled",
        reason: `the grant ${id} does not hold: the approvals behind it no longer count`,
      });
    });

    test("after its grant ended and another took its place", async () => {
      const id = await shop.grant();
      const call = await shop.pay();
      await shop.clock.advance(HOUR);
      await shop.grant();
      const { outcome } = await shop.engine.callers.claim({ by: "bot", key: call.key }, { leaseMs: 60_000 });
      expect(outcome).toMatchObject({ status: "cancelled", reason: `the grant ${id} is over` });
    });
  });
});

describe("in one session:", () => {
  beforeEach(() => start("session"));

  test("another session, or another tool", async () => {
    await shop.grant();
    expect(await shop.pay({ amount: 1 }, { thread: "t2" })).toMatchObject({ status: "pending" });
    expect(await shop.pay({ amount: 1 }, { tool: "refund" })).toMatchObject({ status: "pending" });
  });

  test("a call without a thread cannot be granted: its session has no further calls", async () => {
    const { thread: _none, ...alone } = { thread: "" };
    const { confirmation } = await shop.engine.callers.propose({
      by: BOT,
      app: "shop",
      tool: "pay",
      key: "alone",
      args: { amount: 1 },
      ...alone,
    });
    expect(confirmation).not.toHaveProperty("grants");
  });

  test("pages of the list do not depend on grants that the reader may not see", async () => {
    const mine = { ...BOT, onBehalfOf: "ana" };
    const first = await shop.grant({ forMs: 1_000 }, "ana", { thread: "t1" });
    // She asked for these, so that she may not decide.
    await shop.grant({ forMs: 2_000 }, "bob", { thread: "t2", by: mine });
    await shop.grant({ forMs: 3_000 }, "bob", { thread: "t3", by: mine });
    const last = await shop.grant({ forMs: 4_000 }, "ana", { thread: "t4" });
    await shop.grant({ forMs: 5_000 }, "bob", { thread: "t5", by: mine });
    const by = approver("ana");
    const { items, next = "" } = await shop.engine.grants({ by, limit: 1 });
    expect(items).toMatchObject([{ id: first }]);
    expect(Buffer.from(next, "base64url").toString()).toContain(first);
    const rest = await shop.engine.grants({ by, limit: 1, cursor: next });
    expect(rest).toMatchObject({ items: [{ id: last }] });
    expect(rest).not.toHaveProperty("next");
    expect(await shop.engine.grants({ by: approver("eve"), limit: 1 })).toEqual({ items: [] });
    expect((await shop.engine.grants({ by: approver("bob"), limit: 5 })).items).toHaveLength(5);
  });
});
