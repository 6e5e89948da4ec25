import { describe, expect, test } from "vitest";
import { type AskInput, openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import type { Policy, PolicySource } from "../gate/index.ts";
import { questionIsGenuine } from "../questions/index.ts";
import { tryApprove } from "../testing/try-decide.ts";

const [ANA, BOB, CARL, CFO] = [person("ana"), person("bob"), person("carl"), person("cfo")];
const FINANCE = { users: ["ana", "bob", "carl"] } as const;
const SECRET = "correct horse battery staple";

function payment(question: NonNullable<AskInput["question"]>): AskInput {
  return { tool: "pay", args: { amount: 5 }, question: { requesters: ["rita"], ...question } };
}

function service(onBehalfOf: string) {
  return { by: { ...person("desk"), roles: ["finance"], onBehalfOf } };
}

describe("a service that acts for people", () => {
  const requirements = [{ from: { roles: ["finance"] }, count: 2 }];

  test("and the person themselves have one vote", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment({ requirements }));
    await tryApprove(fixture.engine, confirmation.id, service("ana"));
    await tryApprove(fixture.engine, confirmation.id, { by: { ...ANA, roles: ["finance"] } });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({
      status: "requested",
      votes: [{ person: "ana" }],
    });
    const left = await fixture.engine.decisions.withdrawVote(confirmation.id, service("ana"));
    expect(left.confirmation?.votes).toEqual([]);
  });

  test("fills one place, however many people it acts for", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment({ requirements }));
    await tryApprove(fixture.engine, confirmation.id, service("ana"));
    await tryApprove(fixture.engine, confirmation.id, service("bob"));
    const { status, votes } = await fixture.confirmation(confirmation.id);
    expect([status, votes.map((vote) => vote.person)]).toEqual(["requested", ["bob"]]);
    await tryApprove(fixture.engine, confirmation.id, { by: { ...CARL, roles: ["finance"] } });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "approved" });
  });
});

describe("an escalation", () => {
  test("fills only the places of its own requirement, and that is signed", async () => {
    const fixture = await openEngineFixture({ secret: SECRET });
    const requirements = [
      { from: { users: ["ana"] }, count: 1 },
      { from: { users: ["leo"] }, count: 1 },
    ];
    const escalate = [{ afterMs: 1_000, to: { users: ["bob", "carl"] }, fills: [1] }];
    const { confirmation } = await fixture.ask(payment({ requirements, escalate }));
    await fixture.clock.advance(1_000);
    await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({
      status: "requested",
      votes: [{ person: "bob", slot: { requirement: 1 } }],
    });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: CARL })).toMatchObject({ ok: false });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
    const { confirmation: again } = await fixture.ask(payment({ requirements, escalate }));
    const forged = { ...again, escalations: again.escalations?.map((one) => ({ ...one, fills: [0, 1] })) };
    expect(questionIsGenuine(SECRET, again)).toBe(true);
    expect(questionIsGenuine(SECRET, forged as typeof again)).toBe(false);
  });
});

const anaThenCfo: Policy = ({ args }) => ({
  rule: `amount-${Number(args["amount"])}`,
  outcome: "confirm",
  reason: "money",
  requirements: [{ from: { users: ["ana"] }, count: 1 }],
  escalate: [{ afterMs: 1_000, to: { users: ["cfo"] } }],
});

describe("amending", () => {
  test("asks by the stricter terms of both, and only those may fill in who may for both", async () => {
    const LEGAL = { users: ["leo"] };
    const policy: Policy = ({ args }) => ({
      outcome: "confirm",
      reason: "money",
      rule: Number(args["amount"]) > 100 ? "large" : "small",
      ...(Number(args["amount"]) > 100
        ? {
            requirements: [{ from: LEGAL, count: 1 }],
            escalate: [{ afterMs: 3_000, to: { users: ["cfo"] } }],
            expiresInMs: 10_000,
            amendable: ["amount"],
          }
        : {
            requirements: [{ from: FINANCE, count: 2 }],
            escalate: [{ afterMs: 1_000, to: { users: ["cfo"] } }],
            expiresInMs: 60_000,
            denials: 2,
          }),
    });
    const fixture = await openEngineFixture({ policy, secret: SECRET });
    const pay = fixture.engine.gate("pay", { amendable: ["amount", "note"] }, async (args: object) => ({
      ...args,
    }));
    const opened = await pay({ amount: 5, note: "-" }, { key: "k", by: person("rita") });
    if (opened.status !== "pending") throw new Error(opened.status);
    const { id } = opened.confirmation;
    const before = await fixture.confirmation(id);
    expect(before).toMatchObject({ denials: 2, escalations: [{ fills: [0] }] });
    await fixture.clock.advance(2_000);
    const args = { amount: 500, note: "-" };
    const amended = await tryApprove(fixture.engine, id, { by: ANA, args });
    if (!amended.ok) throw new Error(amended.message);
    const { confirmation: after } = amended;
    expect(after).toMatchObject({
      status: "requested",
      requirements: [
        { from: FINANCE, count: 2 },
        { from: LEGAL, count: 1 },
      ],
      escalations: [{ at: fixture.clock.now() + 3_000, to: { users: ["cfo"] }, fills: [1] }],
      expiresAt: fixture.clock.now() + 10_000,
    });
    const records = await fixture.ledger.journal.records({ after: 0, limit: 100 });
    const asked = records.filter(({ kind }) => kind === "confirmation-requested").at(-1);
    expect(asked?.body).toMatchObject({ confirmation: after.id, policy: [{ rules: [{ rule: "large" }] }] });
    expect(after).not.toHaveProperty("denials");
    expect(after.shown.amendable).toEqual(["amount"]);
    // Whoever could fill in before cannot amend for those who cannot be filled in for now.
    const second = await pay({ amount: 5, note: "-" }, { key: "k2", by: person("rita") });
    if (second.status !== "pending") throw new Error(second.status);
    await fixture.clock.advance(1_000);
    const tried = await tryApprove(fixture.engine, second.confirmation.id, { by: CFO, args });
    expect(tried).toMatchObject({ ok: false, code: "not-an-approver" });
  });

  test("to what a rule denies is refused at once, also where more votes would be needed", async () => {
    const fixture = await openEngineFixture({ policy: upTo100 });
    const pay = fixture.engine.gate("pay", { amendable: true }, async (args: object) => ({ ...args }));
    const opened = await pay({ amount: 5 }, { key: "k", by: person("rita") });
    if (opened.status !== "pending") throw new Error(opened.status);
    const { id } = opened.confirmation;
    await tryApprove(fixture.engine, id, { by: BOB });
    const amended = await tryApprove(fixture.engine, id, { by: ANA, args: { amount: 500 } });
    expect(amended).toMatchObject({ ok: false, code: "policy-denied", message: "too much" });
    expect(await fixture.confirmation(id)).toMatchObject({ status: "requested", votes: [{ person: "bob" }] });
  });

  test("after the group changed asks the group as it is now, for as many as before", async () => {
    let [members, count] = [["ana", "bob"], 2];
    const policy: PolicySource = {
      judge: () => ({
        outcome: "confirm",
        reason: "money",
        requirements: [{ from: { users: members }, count, group: "finance" }],
      }),
      version: "v1",
      text: "{}",
      group: () => ({ users: members }),
      person: (id) => id,
    };
    const fixture = await openEngineFixture({ policy });
    const pay = fixture.engine.gate("pay", { amendable: true }, async (args: object) => ({ ...args }));
    const opened = await pay({ amount: 5 }, { key: "k", by: person("rita") });
    if (opened.status !== "pending") throw new Error(opened.status);
    [members, count] = [["bob", "carl"], 1];
    const amended = await tryApprove(fixture.engine, opened.confirmation.id, {
      by: BOB,
      args: { amount: 3 },
    });
    expect(amended.confirmation?.requirements).toEqual([
      { from: { users: ["bob", "carl"] }, count: 2, group: "finance" },
    ]);
    const last = await tryApprove(fixture.engine, amended.confirmation?.id ?? "", { by: CARL });
    expect(last).toMatchObject({ ok: true, confirmation: { status: "approved" } });
  });

  test("by one who may fill in for the same rule keeps its clock, and notes the rules that applied last", async () => {
    const fixture = await openEngineFixture({ policy: anaThenCfo, secret: SECRET });
    const pay = fixture.engine.gate("pay", { amendable: true }, async (args: object) => ({ ...args }));
    const opened = await pay({ amount: 5 }, { key: "k", by: person("rita") });
    if (opened.status !== "pending") throw new Error(opened.status);
    await fixture.clock.advance(1_000);
    const approved = await tryApprove(fixture.engine, opened.confirmation.id, {
      by: CFO,
      args: { amount: 3 },
    });
    if (!approved.ok) throw new Error(approved.message);
    await approved.finished;
    expect(await fixture.call(approved.call.id)).toMatchObject({ status: "succeeded", args: { amount: 3 } });
    expect(await fixture.confirmation(opened.confirmation.id)).toMatchObject({
      policy: [{ rules: [{ rule: "amount-3" }] }],
    });
  });
});

const upTo100: Policy = ({ args }) =>
  Number(args["amount"]) > 100
    ? { outcome: "deny", reason: "too much" }
    : { outcome: "confirm", reason: "money", requirements: [{ from: FINANCE, count: 2 }] };
