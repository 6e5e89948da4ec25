import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { type WatchedLedger, watch } from "../testing/execution.ts";
import { approver, BOT, HOUR, Payments } from "../testing/granting.ts";

let shop: Payments;
let watched: WatchedLedger;

beforeEach(async () => {
  const clock = new ManualClock();
  watched = watch(await createLedger("memory:", { clock }));
  shop = new Payments(watched.ledger, { clock, scope: "user" });
});

afterEach(() => shop.engine.close());

async function listed(by = "ana") {
  return (await shop.engine.grants({ by: approver(by) })).items;
}

describe("where the rules allow it", () => {
  test("an approver who names no scope grants for the session", async () => {
    const first = await shop.pay({ amount: 1 }, { thread: "one" });
    expect(first.confirmation).toMatchObject({ grants: { scope: "user" } });
    await shop.engine.approve(first.confirmation?.id ?? "", { by: approver("ana"), grant: {} });
    expect((await listed())[0]?.limits).not.toHaveProperty("scope");
    expect(await shop.pay({ amount: 2 }, { thread: "two" })).toMatchObject({ status: "pending" });
    expect(await shop.pay({ amount: 2 }, { thread: "one" })).toMatchObject({ status: "allowed" });
  });

  test("a grant for the user is listed with its scope and the session that gave it, behind those of sessions", async () => {
    const wide = await shop.grant({ forMs: 1_000 }, "ana", { thread: "one" });
    const own = await shop.grant({ scope: "session", forMs: 2_000 }, "ana", {
      thread: "two",
      agent: "seller",
    });
    expect(await listed()).toMatchObject([
      { id: own, session: "two" },
      { id: wide, session: "one", user: "rita", limits: { scope: "user" } },
    ]);
    const by = approver("ana");
    const { items, next = "" } = await shop.engine.grants({ by, limit: 1 });
    expect(items).toMatchObject([{ id: own }]);
    const rest = await shop.engine.grants({ by, limit: 1, cursor: next });
    expect(rest).toMatchObject({ items: [{ id: wide }] });
    expect(rest).not.toHaveProperty("next");
    expect(await listed("eve")).toEqual([]);
  });

  test("pages of many are complete, and do not depend on those that the reader may not see", async () => {
    const mine = { ...BOT, onBehalfOf: "ana" };
    const ids = [];
    for (const tool of ["pay", "refund", "order"]) {
      ids.push(await shop.grant({}, "ana", { tool }));
      // She asked for these, so that she may not decide.
      await shop.grant({}, "bob", { tool, by: mine });
    }
    const found = [];
    for (let cursor: string | undefined; ; ) {
      const page = cursor === undefined ? {} : { cursor };
      const { items, next } = await shop.engine.grants({ by: approver("ana"), limit: 1, ...page });
      found.push(...items.map(({ id }) => id));
      if (next === undefined) break;
      cursor = next;
    }
    expect(found.toSorted()).toEqual(ids.toSorted());
  });

  test("a call without a thread can be granted, and uses the grant", async () => {
    const alone = (key: string) =>
      shop.engine.callers.propose({
        by: BOT,
        app: "shop",
        agent: "buyer",
        tool: "pay",
        key,
        requireConfirmation: false,
        args: { amount: 1 },
      });
    const { confirmation } = await alone("first");
    const grant = { scope: "user" } as const;
    await shop.engine.approve(confirmation?.id ?? "", { by: approver("ana"), grant });
    expect(await alone("second")).toMatchObject({ status: "allowed" });
  });

  test("a gated function runs under it, and the next one is asked about when it is used up", async () => {
    const paid: number[] = [];
    const pay = shop.engine.gate<{ readonly amount: number }, null>("pay", {}, async ({ amount }) => {
      paid.push(amount);
      return null;
    });
    const by = { id: "rita" };
    const first = await pay({ amount: 1 }, { key: "first", by });
    if (first.status !== "pending") throw new Error("it is not asked about");
    const grant = { scope: "user", count: 1 } as const;
    await shop.engine.approve(first.confirmation.id, { by: approver("ana"), grant });
    expect(await pay({ amount: 2 }, { key: "second", by })).toMatchObject({ status: "succeeded" });
    expect(await pay({ amount: 3 }, { key: "third", by })).toMatchObject({ status: "pending" });
    expect(await pay({ amount: 2 }, { key: "second", by })).toMatchObject({ status: "succeeded" });
    expect(new Set(paid)).toEqual(new Set([1, 2]));
    expect(paid).toHaveLength(2);
    expect(await listed()).toMatchObject([{ uses: 1, status: "used-up" }]);
  });
});

describe("it is not for", () => {
  test("another app, another tool, or somebody else with the same agent", async () => {
    await shop.grant();
    expect(await shop.pay({ amount: 2 }, { app: "bank" })).toMatchObject({ status: "pending" });
    expect(await shop.pay({ amount: 2 }, { tool: "refund" })).toMatchObject({ status: "pending" });
    const others = [
      { ...BOT, onBehalfOf: "eve" },
      { ...BOT, id: "rita" },
      { ...BOT, id: "other" },
    ];
    for (const by of others)
      expect(await shop.pay({ amount: 3 }, { by })).toMatchObject({ status: "pending" });
    expect(await shop.pay({ amount: 4 })).toMatchObject({ status: "allowed" });
  });

  test("calls after the rules narrowed it to sessions", async () => {
    await shop.grant();
    shop.policy.scope = "session";
    expect(await shop.pay({ amount: 2 }, { thread: "t9" })).toMatchObject({ status: "pending" });
    expect(await shop.pay({ amount: 2 }, { thread: "t1" })).toMatchObject({ status: "pending" });
  });

  test("a call of which the outcome is unknown, or on which a person has to decide, in another session", async () => {
    expect(await shop.pay({ amount: 20 })).toMatchObject({ status: "pending" });
    await shop.grant();
    expect(await shop.pay({ amount: 20 })).toMatchObject({ status: "pending" });
    const waits = "a person has still to decide on the same call of another session";
    expect(await shop.refusal()).toBe(waits);
    const lost = await shop.pay({ amount: 21 });
    expect(lost).toMatchObject({ status: "allowed" });
    await shop.engine.callers.claim({ by: "bot", key: lost.key }, { leaseMs: 60_000 });
    await shop.clock.advance(120_000);
    await shop.engine.work({ once: true });
    expect(await shop.pay({ amount: 21 })).toMatchObject({ status: "pending" });
    expect(await shop.refusal()).toBe(waits);
    expect(await shop.pay({ amount: 22 })).toMatchObject({ status: "allowed" });
  });
});

test("nobody may grant further than the rules allow, or somewhere else", async () => {
  shop.policy.scope = "session";
  for (const scope of ["user", "agent", "", null, 1]) {
    const { confirmation } = await shop.pay({ amount: 1 });
    const decided = await shop.engine.decisions.decide(
      { id: confirmation?.id ?? "", confirmed: true, grant: { scope: scope as "user" } },
      { by: approver("ana") },
    );
    expect(decided).toMatchObject({ ok: false, code: "grant-refused" });
  }
  expect(await shop.records("grant-minted")).toEqual([]);
});

test("several rules that ask: for all sessions only if every one allows it", async () => {
  shop.policy.more = () => [{ outcome: "confirm", reason: "more", grants: { forMs: HOUR, count: 9 } }];
  const { confirmation } = await shop.pay({ amount: 1 });
  expect(confirmation?.grants).not.toHaveProperty("scope");
});

describe("it ends", () => {
  test("with the denial of a call of its tool in any session of the requesters", async () => {
    const id = await shop.grant();
    const large = await shop.pay({ amount: 1_000 }, { agent: "seller" });
    await shop.engine.deny(large.confirmation?.id ?? "", { by: approver("bob") });
    expect(await shop.records("grant-revoked")).toMatchObject([
      { grant: id, by: { id: "bob" }, reason: "a call of the tool was denied" },
    ]);
    expect(await shop.pay({ amount: 2 })).toMatchObject({ status: "pending" });
  });

  test("not with the denial of what somebody else asked for", async () => {
    await shop.grant();
    const by = { ...BOT, onBehalfOf: "eve" };
    const other = await shop.pay({ amount: 2 }, { by });
    await shop.engine.deny(other.confirmation?.id ?? "", { by: approver("bob") });
    expect(await shop.pay({ amount: 2 })).toMatchObject({ status: "allowed" });
  });

  test("with the deletion of the session that gave it, and no other's", async () => {
    const id = await shop.grant({ count: 3 }, "ana", { key: "given", thread: "given" });
    const other = await shop.grant({ count: 3 }, "ana", { thread: "kept", tool: "refund" });
    const ready = await shop.pay({ amount: 2 }, { thread: "used" });
    const given = { by: "bot", key: "given" };
    const { claim: first } = await shop.engine.callers.claim(given, { leaseMs: 60_000 });
    if (first === undefined) throw new Error("no claim");
    await shop.engine.callers.end(given, first, { kind: "succeeded", result: null });
    const { confirmation } = (await listed()).find((grant) => grant.id === id) ?? {};
    const { session } = (await watched.ledger.load({ confirmation: confirmation ?? "" })) ?? {};
    if (session === undefined) throw new Error("no session");
    await shop.engine.deleteSession(session, { id: "rita" });
    expect((await listed()).map((grant) => grant.id)).toEqual([other]);
    const { claim } = await shop.engine.callers.claim({ by: "bot", key: ready.key }, { leaseMs: 60_000 });
    expect(claim).toBeUndefined();
    expect(await shop.pay({ amount: 3 })).toMatchObject({ status: "pending" });
  });

  test("in the same moment for a claim: what is revoked between the look and the commit does not start", async () => {
    const id = await shop.grant();
    const ready = await shop.pay({ amount: 2 });
    expect(ready).toMatchObject({ status: "allowed" });
    watched.intercept("commit", async (pass, [commit]) => {
      const { kinds } = (commit as { readonly log: { readonly kinds: readonly string[] } }).log;
      if (!kinds.includes("call-started")) return pass();
      watched.lift("commit");
      await shop.engine.revokeGrant(id, { by: approver("ana") });
      return pass();
    });
    const { claim, outcome } = await shop.engine.callers.claim(
      { by: "bot", key: ready.key },
      { leaseMs: 60_000 },
    );
    expect(claim).toBeUndefined();
    expect(outcome).toMatchObject({ status: "cancelled", reason: `the grant ${id} was revoked` });
  });

  test("and what ended between the look and the commit does not start either", async () => {
    await shop.grant({ forMs: 1_000 });
    const ready = await shop.pay({ amount: 2 });
    watched.intercept("commit", async (pass, [commit]) => {
      const { kinds } = (commit as { readonly log: { readonly kinds: readonly string[] } }).log;
      if (!kinds.includes("call-started")) return pass();
      watched.lift("commit");
      await shop.clock.advance(1_000);
      return pass();
    });
    const { claim } = await shop.engine.callers.claim({ by: "bot", key: ready.key }, { leaseMs: 60_000 });
    expect(claim).toBeUndefined();
  });

  test("once for a use: of two that saw it with one use left, one runs", async () => {
    await shop.grant({ count: 1 });
    const both = await Promise.all([shop.pay({ amount: 2 }), shop.pay({ amount: 3 })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["allowed", "pending"]);
    expect(await listed()).toMatchObject([{ uses: 1, status: "used-up" }]);
  });
});

test("of two approvals at once both grants are found by calls", async () => {
  const asked = await Promise.all([1, 2].map((amount) => shop.pay({ amount })));
  const grant = { scope: "user", count: 1 } as const;
  const approve = ({ confirmation }: (typeof asked)[number]) =>
    shop.engine.approve(confirmation?.id ?? "", { by: approver("ana"), grant });
  await Promise.all(asked.map(approve));
  for (const amount of [4, 5]) expect(await shop.pay({ amount })).toMatchObject({ status: "allowed" });
  expect(await shop.pay({ amount: 7 })).toMatchObject({ status: "pending" });
});

/** What was read and written of grants across sessions since. */
function touched(since: number): readonly string[] {
  const kinds = new Set(["shared-grant", "shared-grants"]);
  return watched.calls.slice(since).flatMap(({ method, args }) => {
    if (method !== "commit") return kinds.has(String(args[0])) ? [method] : [];
    const { writes } = args[0] as {
      readonly writes: readonly { readonly item?: { readonly kind: string } }[];
    };
    return writes.some(({ item }) => kinds.has(item?.kind ?? "")) ? [method] : [];
  });
}

test("a person who is asked about a call at the same moment keeps the same call of another session from running", async () => {
  await shop.grant({ count: 3 });
  const asked = { status: "" };
  watched.intercept("commit", async (pass) => {
    watched.lift("commit");
    // Not covered: the grant is for another agent.
    asked.status = (await shop.pay({ amount: 5 }, { agent: "seller" })).status;
    return pass();
  });
  expect(await shop.pay({ amount: 5 })).toMatchObject({ status: "pending" });
  expect(asked.status).toBe("pending");
  expect(await shop.refusal()).toBe("a person has still to decide on the same call of another session");
  expect(await shop.pay({ amount: 6 })).toMatchObject({ status: "allowed" });
});

test("where no rule allows it, nothing of it is read or written; only a denial looks for one, once", async () => {
  shop.policy.scope = "session";
  const id = await shop.grant({ count: 2 });
  const used = await shop.pay({ amount: 2 });
  expect(used).toMatchObject({ status: "allowed" });
  const named = { by: "bot", key: used.key };
  await shop.engine.callers.claim(named, { leaseMs: 60_000 });
  await shop.clock.advance(120_000);
  await shop.engine.work({ once: true });
  const undone = { as: "failed", error: "no", happened: false } as const;
  await shop.engine.settleCall(used.id, undone, { by: approver("ana") });
  const asked = await shop.pay({ amount: 1_000 });
  await shop.engine.approve(asked.confirmation?.id ?? "", { by: approver("ana") });
  await shop.engine.callers.claim({ by: "bot", key: asked.key }, { leaseMs: 60_000 });
  const cancelled = await shop.pay({ amount: 1_001 });
  await shop.engine.cancel(cancelled.confirmation?.id ?? "", { by: approver("ana"), reason: "no" });
  await shop.engine.revokeGrant(id, { by: approver("ana") });
  expect(touched(0)).toEqual([]);
  const denied = await shop.pay({ amount: 1_002 });
  const since = watched.calls.length;
  await shop.engine.deny(denied.confirmation?.id ?? "", { by: approver("ana") });
  expect(touched(since)).toEqual(["items.get"]);
});
