import { describe, expect, onTestFinished, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { type AskInput, openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import type { PolicySource } from "../gate/index.ts";
import type { Approvers, Directory, Principal } from "../people/index.ts";
import { tryApprove, tryDeny } from "../testing/try-decide.ts";

const [ANA, BOB, CARL, LEO] = ["ana", "bob", "carl", "leo"].map(person) as [
  Principal,
  Principal,
  Principal,
  Principal,
];
const FINANCE = { users: ["ana", "bob", "carl"] } as const;
const LEGAL = { users: ["leo", "ana"] } as const;
const SECRET = "correct horse battery staple";

/** Two of finance, unless the test says otherwise; asked for by rita. */
function payment(question: AskInput["question"] = {}): AskInput {
  return {
    tool: "pay",
    args: { amount: 5 },
    question: { requirements: [{ from: FINANCE, count: 2 }], requesters: ["rita"], ...question },
  };
}

/** A policy that says nothing about calls, only about people. */
function directoryOf(more: Partial<Directory>): PolicySource {
  const source = { judge: () => undefined, version: "v1", text: "" };
  return { ...source, group: () => undefined, person: (id) => id, ...more };
}

const amend = async (_about: unknown, args: { readonly [name: string]: unknown }) => ({
  ok: true as const,
  args: args as { amount: number },
  requirements: [{ from: FINANCE, count: 2 }],
  shown: { hint: `Pay ${String(args["amount"])}?`, why: ["test"] },
});

/** One of two votes is given; whatever is changed then meets an engine that has seen nothing. */
/** A question in a file, with these votes, to be changed there. */
async function asked(voters: readonly Principal[] = [ANA]) {
  const file = createDatabaseFile();
  onTestFinished(() => file[Symbol.dispose]());
  const front = await openEngineFixture({ url: file.url, secret: SECRET, hosts: false });
  const { confirmation, call } = await front.ask(payment());
  for (const by of voters) await tryApprove(front.engine, confirmation.id, { by });
  const [vote] = (await front.confirmation(confirmation.id)).votes;
  const reopen = () => openEngineFixture({ url: file.url, secret: SECRET, clock: front.clock });
  return { file, confirmation, call, vote, reopen };
}

describe("two of a group", () => {
  test("the first approval leaves the question open, the second one decides and starts the call", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask(payment());
    const first = await tryApprove(fixture.engine, confirmation.id, { by: ANA, reason: "fine" });
    expect(first).toMatchObject({ ok: true, repeated: false, confirmation: { status: "requested" } });
    expect(fixture.app.runs).toEqual([]);
    expect(await fixture.engine.confirmation(confirmation.id)).toMatchObject({
      status: "requested",
      requirements: [{ count: 2, approved: 1 }],
      votes: [{ by: { id: "ana" }, requirement: 0, reason: "fine" }],
    });
    expect(await fixture.engine.confirmation(confirmation.id)).not.toHaveProperty("decision");
    const second = await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    if (!second.ok) throw new Error(second.message);
    await second.finished;
    expect(await fixture.call(call.id)).toMatchObject({ status: "succeeded", attempt: 1 });
    expect(fixture.app.runs).toHaveLength(1);
    const journal = await fixture.journal();
    expect(journal.filter(({ kind }) => kind === "vote-cast")).toMatchObject([
      { body: { by: { id: "ana" }, person: "ana", slot: { requirement: 0, place: 0 } } },
    ]);
    expect(journal.filter(({ kind }) => kind === "confirmation-approved")).toMatchObject([
      { body: { by: { id: "bob" }, slot: { requirement: 0, place: 1 }, started: { attempt: 1 } } },
    ]);
  });

  test("one person's second approval is the first one again, whichever login it comes by", async () => {
    const policy = directoryOf({ person: (id) => (id === "ana@sso" ? "ana" : id) });
    const fixture = await openEngineFixture({ policy });
    const { confirmation } = await fixture.ask(
      payment({ requirements: [{ from: { users: ["ana", "ana@sso"] }, count: 2 }] }),
    );
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    for (const by of [ANA, person("ana@sso")]) {
      const again = await tryApprove(fixture.engine, confirmation.id, { by });
      expect(again).toMatchObject({ ok: true, repeated: true, confirmation: { status: "requested" } });
    }
    expect((await fixture.confirmation(confirmation.id)).votes).toHaveLength(1);
    expect(fixture.app.runs).toEqual([]);
  });

  test("the requester's other login is the requester", async () => {
    const policy = directoryOf({ person: (id) => (id === "rita@sso" ? "rita" : id) });
    const fixture = await openEngineFixture({ policy });
    const from = { users: ["rita@sso", "bob"], notRequester: true };
    const { confirmation } = await fixture.ask(payment({ requirements: [{ from, count: 1 }] }));
    const tried = await tryApprove(fixture.engine, confirmation.id, { by: person("rita@sso") });
    expect(tried).toMatchObject({ ok: false, code: "not-an-approver" });
  });

  test("one denial denies", async () => {
    const fixture = await openEngineFixture();
    const { confirmation, call } = await fixture.ask(payment());
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    const denied = await tryDeny(fixture.engine, confirmation.id, { by: BOB, reason: "no" });
    expect(denied).toMatchObject({ ok: true, confirmation: { status: "denied" } });
    expect(await fixture.call(call.id)).toMatchObject({ status: "denied" });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: CARL })).toMatchObject({
      ok: false,
      code: "already-decided",
    });
  });

  test("with `denials: 2` the second denial denies, and one does not hinder the approvals", async () => {
    const fixture = await openEngineFixture();
    const [lost, won] = [
      await fixture.ask(payment({ denials: 2 })),
      await fixture.ask(payment({ denials: 2 })),
    ];
    for (const { confirmation } of [lost, won]) {
      const first = await tryDeny(fixture.engine, confirmation.id, { by: ANA });
      expect(first).toMatchObject({ ok: true, confirmation: { status: "requested" } });
    }
    const second = await tryDeny(fixture.engine, lost.confirmation.id, { by: BOB });
    expect(second).toMatchObject({ ok: true, confirmation: { status: "denied" } });
    for (const by of [BOB, CARL]) await tryApprove(fixture.engine, won.confirmation.id, { by });
    expect(await fixture.confirmation(won.confirmation.id)).toMatchObject({ status: "approved" });
  });

  test("an agent, a provider and the author's own code never vote, whatever they are called", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment());
    for (const kind of ["agent", "provider", "author"] as const) {
      const tried = await tryApprove(fixture.engine, confirmation.id, { by: { ...ANA, kind, scopes: [] } });
      expect(tried, kind).toMatchObject({ ok: false, code: "not-an-approver" });
    }
    expect((await fixture.confirmation(confirmation.id)).votes).toEqual([]);
  });

  test("a vote at the deadline is late, and expires the question", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment({ expiresInMs: 1_000 }));
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    await fixture.clock.advance(1_000);
    const late = await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(late).toMatchObject({ ok: false, code: "expired" });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "expired" });
    expect(await fixture.engine.confirmation(confirmation.id)).not.toHaveProperty("decision");
    expect(fixture.app.runs).toEqual([]);
  });

  test("another payload than the first approver's is refused", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment());
    await tryApprove(fixture.engine, confirmation.id, { by: ANA, payload: { limit: 1 } });
    const other = await tryApprove(fixture.engine, confirmation.id, { by: BOB, payload: { limit: 9 } });
    expect(other).toMatchObject({ ok: false, code: "payload-mismatch" });
    const same = await tryApprove(fixture.engine, confirmation.id, { by: BOB, payload: { limit: 1 } });
    if (!same.ok) throw new Error(same.message);
    await same.finished;
    expect(fixture.app.runs).toMatchObject([{ payload: { limit: 1 } }]);
  });
});

describe("several requirements", () => {
  const requirements = [
    { from: FINANCE, count: 1 },
    { from: LEGAL, count: 1 },
  ];

  test("each must be met, and one person meets only one of them", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment({ requirements }));
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    const needless = await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(needless).toMatchObject({ ok: false, code: "already-decided" });
    expect(needless).toHaveProperty("message", expect.stringContaining("0 of 1 from leo or ana"));
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({ repeated: true });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
    await tryApprove(fixture.engine, confirmation.id, { by: LEO });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "approved" });
  });

  test("somebody whose approval is not needed any more may still deny", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment({ requirements }));
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    await tryDeny(fixture.engine, confirmation.id, { by: BOB });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "denied" });
  });
});

describe("before the last vote", () => {
  test("one's own vote can be withdrawn and given again; all of it is journaled", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment());
    const { decisions } = fixture.engine;
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    expect(await decisions.withdrawVote(confirmation.id, { by: ANA })).toMatchObject({
      ok: true,
      repeated: false,
      confirmation: { votes: [] },
    });
    expect(await decisions.withdrawVote(confirmation.id, { by: ANA })).toMatchObject({ repeated: true });
    await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "approved" });
    expect((await fixture.kinds()).filter((kind) => kind.startsWith("vote"))).toEqual([
      "vote-cast",
      "vote-withdrawn",
      "vote-cast",
    ]);
    expect(await decisions.withdrawVote(confirmation.id, { by: ANA })).toMatchObject({
      ok: false,
      code: "already-decided",
    });
  });

  test("an approval can be turned into a denial and back", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment({ denials: 2 }));
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    await tryDeny(fixture.engine, confirmation.id, { by: ANA });
    expect((await fixture.confirmation(confirmation.id)).votes).toMatchObject([{ confirmed: false }]);
    await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "approved" });
    const ended = (await fixture.journal()).filter(({ body }) => "ended" in body);
    expect(ended.map(({ body }) => body["ended"])).toEqual([["ana"], ["ana"]]);
  });

  test("a stranger withdraws nothing, and that is journaled", async () => {
    const fixture = await openEngineFixture();
    const { confirmation } = await fixture.ask(payment());
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    const tried = await fixture.engine.decisions.withdrawVote(confirmation.id, { by: LEO });
    expect(tried).toMatchObject({ ok: false, code: "not-an-approver" });
    expect((await fixture.confirmation(confirmation.id)).votes).toHaveLength(1);
    expect(await fixture.kinds()).toContain("decision-refused");
  });
});

describe("people who leave", () => {
  test("an approver removed from the group's list no longer counts", async () => {
    let members: Approvers | undefined = FINANCE;
    const policy = directoryOf({ group: () => members });
    const fixture = await openEngineFixture({ policy });
    const requirements = [{ from: FINANCE, count: 2, group: "finance" }];
    const { confirmation } = await fixture.ask(payment({ requirements }));
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    members = { users: ["bob", "carl"] };
    await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({
      status: "requested",
      votes: [{ person: "bob" }],
    });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({
      code: "not-an-approver",
    });
    members = undefined;
    expect(await tryApprove(fixture.engine, confirmation.id, { by: CARL })).toMatchObject({
      code: "not-an-approver",
    });
    members = FINANCE;
    await tryApprove(fixture.engine, confirmation.id, { by: CARL });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "approved" });
  });

  test("a group that has grown meanwhile admits nobody new to an old question", async () => {
    const policy = directoryOf({ group: () => ({ users: ["ana", "leo"] }) });
    const fixture = await openEngineFixture({ policy });
    const requirements = [{ from: FINANCE, count: 1, group: "finance" }];
    const { confirmation } = await fixture.ask(payment({ requirements }));
    const tried = await tryApprove(fixture.engine, confirmation.id, { by: LEO });
    expect(tried).toMatchObject({ code: "not-an-approver" });
  });

  test("a role from a login lapses as a vote; a name on the list does not", async () => {
    const policy = directoryOf({ voteMaxAgeMs: 1_000 });
    const fixture = await openEngineFixture({ policy });
    const from = { roles: ["finance"], users: ["carl"] };
    const { confirmation } = await fixture.ask(payment({ requirements: [{ from, count: 2 }] }));
    await tryApprove(fixture.engine, confirmation.id, { by: { ...ANA, roles: ["finance"] } });
    await fixture.clock.advance(1_001);
    await tryApprove(fixture.engine, confirmation.id, { by: CARL });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({
      status: "requested",
      votes: [{ person: "carl" }],
    });
    await fixture.clock.advance(5_000);
    await tryApprove(fixture.engine, confirmation.id, { by: { ...BOB, roles: ["finance"] } });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "approved" });
  });

  test("a vote that lapsed can be given again", async () => {
    const policy = directoryOf({ voteMaxAgeMs: 1_000 });
    const fixture = await openEngineFixture({ policy });
    const requirements = [{ from: { roles: ["finance"] }, count: 2 }];
    const { confirmation } = await fixture.ask(payment({ requirements }));
    const ana = { by: { ...ANA, roles: ["finance"] } };
    await tryApprove(fixture.engine, confirmation.id, ana);
    await fixture.clock.advance(1_001);
    const again = await tryApprove(fixture.engine, confirmation.id, ana);
    expect(again).toMatchObject({ ok: true, repeated: false });
    await tryApprove(fixture.engine, confirmation.id, { by: { ...BOB, roles: ["finance"] } });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "approved" });
  });

  test("a worker that claims much later counts again: an approver who left meanwhile stops the call", async () => {
    let members: Approvers = FINANCE;
    const policy = directoryOf({ group: () => members });
    const fixture = await openEngineFixture({ policy, hosts: false });
    const requirements = [{ from: FINANCE, count: 2, group: "finance" }];
    const { confirmation, call } = await fixture.ask(payment({ requirements }));
    for (const by of [ANA, BOB]) await tryApprove(fixture.engine, confirmation.id, { by });
    expect(await fixture.call(call.id)).toMatchObject({ status: "ready" });
    members = { users: ["bob"] };
    fixture.engine.host(fixture.app);
    await fixture.engine.work({ once: true });
    expect(fixture.app.runs).toEqual([]);
    expect(await fixture.call(call.id)).toMatchObject({
      status: "cancelled",
      result: { reason: "too few approvals still count" },
    });
  });
});

describe("amending", () => {
  test("drops the other votes, and asks anew about what would run", async () => {
    const fixture = await openEngineFixture({ secret: SECRET });
    fixture.app.define("pay", { amend });
    const { confirmation, call } = await fixture.ask(payment({ shown: { amendable: ["amount"] } }));
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    const amended = await tryApprove(fixture.engine, confirmation.id, { by: BOB, args: { amount: 3 } });
    if (!amended.ok) throw new Error(amended.message);
    const { id } = amended.confirmation;
    expect(id).not.toBe(confirmation.id);
    expect(amended.confirmation).toMatchObject({
      status: "requested",
      shown: { hint: "Pay 3?" },
      votes: [{ person: "bob" }],
    });
    expect(await fixture.confirmation(confirmation.id)).toMatchObject({
      status: "cancelled",
      withdrawal: "bob changed the arguments; this withdrew 1 vote for the old ones",
    });
    // Whoever still looks at the old question approves nothing.
    expect(await tryApprove(fixture.engine, confirmation.id, { by: CARL })).toMatchObject({
      ok: false,
      code: "withdrawn",
      message: `The question was withdrawn: bob changed the arguments; this withdrew 1 vote for the old ones. The new question is ${id}.`,
    });
    const last = await tryApprove(fixture.engine, id, { by: ANA });
    if (!last.ok) throw new Error(last.message);
    await last.finished;
    expect(fixture.app.runs).toMatchObject([{ args: { amount: 3 } }]);
    expect(await fixture.call(call.id)).toMatchObject({ originalArgs: { amount: 5 } });
  });
});

describe("changed in the database, where votes are signed", () => {
  test.each<[string, object]>([
    ["a lower count", { requirements: [{ from: FINANCE, count: 1 }] }],
    ["other people", { requirements: [{ from: { users: ["leo", "bob", "carl"] }, count: 2 }] }],
    ["more denials", { denials: 9 }],
    ["another requester", { requesters: ["zoe"] }],
    ["a later deadline", { expiresAt: 9_999_999_999_999 }],
    ["no signature", { mac: null }],
  ])("a question with %s takes no vote, neither the first nor a later one", async (_, edit) => {
    for (const voters of [[], [ANA]]) {
      const { file, confirmation, reopen } = await asked(voters);
      file.editConfirmation(confirmation.id, edit);
      const back = await reopen();
      for (const by of [BOB, CARL]) {
        const tried = await tryApprove(back.engine, confirmation.id, { by });
        expect(tried).toMatchObject({ ok: false, code: "signature-invalid" });
      }
      expect(await back.kinds()).toContain("decision-refused");
      expect(back.app.runs).toEqual([]);
    }
  });

  test.each<[string, object]>([
    ["a vote that nobody gave", { person: "bob", by: BOB, slot: { requirement: 0, place: 1 } }],
    ["one's own vote in another place", { slot: { requirement: 0, place: 1 } }],
    ["one's own vote under another name", { person: "bob", slot: { requirement: 0, place: 1 } }],
    ["nothing but a status", {}],
  ])("%s makes no quorum", async (_, forged) => {
    const { file, confirmation, call, vote, reopen } = await asked();
    file.editConfirmation(confirmation.id, { status: "approved", votes: [vote, { ...vote, ...forged }] });
    file.editCall(call.id, { status: "ready" });
    const back = await reopen();
    await back.engine.work({ once: true });
    expect(back.app.runs).toEqual([]);
    expect(await back.call(call.id)).toMatchObject({ status: "cancelled" });
  });

  test("a vote added to an open question keeps everybody from deciding it", async () => {
    const { file, confirmation, vote, reopen } = await asked();
    const added = { ...vote, person: "carl", by: CARL, slot: { requirement: 0, place: 1 } };
    file.editConfirmation(confirmation.id, { votes: [added] });
    const back = await reopen();
    const tried = await tryApprove(back.engine, confirmation.id, { by: BOB });
    expect(tried).toMatchObject({ ok: false, code: "signature-invalid" });
    expect(back.app.runs).toEqual([]);
  });
});
