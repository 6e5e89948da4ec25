import { describe, expect, onTestFinished, test } from "vitest";
import { createDatabaseFile } from "../../../test/attack/support/database.ts";
import { type AskInput, openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import type { PolicySource } from "../gate/index.ts";
import type { Principal } from "../people/index.ts";
import { tryApprove, tryDeny } from "../testing/try-decide.ts";

const [ANA, BOB, CARL, RITA] = ["ana", "bob", "carl", "rita"].map(person) as [
  Principal,
  Principal,
  Principal,
  Principal,
];
const HOUR = 3_600_000;
const SECRET = "correct horse battery staple";

/** Two of ana, bob and carl, unless the test says otherwise; asked for by rita. */
function payment(question: AskInput["question"] = {}): AskInput {
  const requirements = [{ from: { users: ["ana", "bob", "carl"], notRequester: true }, count: 2 }];
  return { tool: "pay", args: { amount: 5 }, question: { requirements, requesters: ["rita"], ...question } };
}

/** Only ana, or only these. */
function only(...users: readonly string[]): AskInput {
  return payment({ requirements: [{ from: { users, notRequester: true }, count: 1 }] });
}

async function open(options: Parameters<typeof openEngineFixture>[0] = {}) {
  const fixture = await openEngineFixture({ secret: SECRET, ...options });
  const { engine, clock } = fixture;
  const delegate = (
    from: Principal,
    to: string,
    more: { readonly scope?: object; readonly ms?: number } = {},
  ) =>
    engine.delegate(
      {
        to,
        until: clock.now() + (more.ms ?? HOUR),
        ...(more.scope === undefined ? {} : { scope: more.scope }),
      },
      { by: from },
    );
  const status = async (id: string) => (await fixture.confirmation(id)).status;
  return { ...fixture, delegate, status };
}

describe("a delegate", () => {
  test("votes for the delegator; the vote, the journal and the question say for whom", async () => {
    const fixture = await open();
    const { id: delegation } = await fixture.delegate(ANA, "leo");
    const { confirmation, call } = await fixture.ask(only("ana"));
    const leo = person("leo");
    const { can } = await fixture.engine.confirmation(confirmation.id, { by: leo });
    expect(can).toEqual({ decide: true, amend: false, cancel: false, for: "ana" });
    const done = await tryApprove(fixture.engine, confirmation.id, { by: leo });
    if (!done.ok) throw new Error(done.message);
    await done.finished;
    expect(await fixture.call(call.id)).toMatchObject({ status: "succeeded" });
    expect(await fixture.engine.confirmation(confirmation.id)).toMatchObject({
      votes: [{ by: { id: "leo" }, for: "ana", requirement: 0 }],
      decision: { for: "ana" },
    });
    const journal = await fixture.journal();
    expect(journal.filter(({ kind }) => kind.startsWith("delegation"))).toMatchObject([
      {
        kind: "delegation-made",
        body: { delegation, from: "ana", to: "leo", by: { id: "ana" }, via: "host" },
      },
    ]);
    expect(journal.find(({ kind }) => kind === "confirmation-approved")).toMatchObject({
      body: { by: { id: "leo" }, person: "leo", delegated: { from: "ana", delegation } },
    });
    expect((await fixture.engine.verify()).faults).toEqual([]);
  });

  test("who voted for the delegator has one vote with them: neither votes a second time", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "leo");
    await fixture.delegate(ANA, "eva");
    const { confirmation } = await fixture.ask(payment());
    await tryApprove(fixture.engine, confirmation.id, { by: person("leo") });
    // Her own vote takes the place of the one that was given for her.
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({ repeated: false });
    for (const by of [ANA, person("eva"), person("leo")])
      expect(await tryApprove(fixture.engine, confirmation.id, { by })).toMatchObject({ repeated: true });
    expect((await fixture.confirmation(confirmation.id)).votes).toMatchObject([{ person: "ana" }]);
    await tryApprove(fixture.engine, confirmation.id, { by: CARL });
    expect(await fixture.status(confirmation.id)).toBe("approved");
  });

  test.each(["ana", "eva"])("whose delegation is revoked takes no word of %s along", async (second) => {
    const fixture = await open();
    const { id: delegation } = await fixture.delegate(ANA, "leo");
    await fixture.delegate(ANA, "eva");
    const { confirmation } = await fixture.ask(payment({ denials: 2 }));
    for (const by of [person("leo"), person(second)]) await tryDeny(fixture.engine, confirmation.id, { by });
    await fixture.engine.revokeDelegation(delegation, { by: ANA });
    await tryDeny(fixture.engine, confirmation.id, { by: CARL });
    expect(await fixture.status(confirmation.id)).toBe("denied");
  });

  test("who is named votes once: for themselves, not also for the delegator", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "bob");
    const { confirmation } = await fixture.ask(payment());
    for (let times = 0; times < 2; times++) await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect((await fixture.confirmation(confirmation.id)).votes).toMatchObject([{ person: "bob" }]);
    expect((await fixture.confirmation(confirmation.id)).votes[0]?.delegated).toBeUndefined();
    expect(await fixture.status(confirmation.id)).toBe("requested");
  });

  test.each([
    ["ana", "bob"],
    ["bob", "ana"],
  ] as const)(
    "and the delegator approve once: after %s, %s is one approval too many",
    async (first, second) => {
      const fixture = await open();
      const { id } = await fixture.delegate(ANA, "bob");
      const { confirmation } = await fixture.ask(payment());
      await tryApprove(fixture.engine, confirmation.id, { by: person(first) });
      expect(await tryApprove(fixture.engine, confirmation.id, { by: person(second) })).toMatchObject({
        code: "already-decided",
        message: expect.stringContaining(
          `${first} has already approved this, and counts as one person with ${second}`,
        ) as string,
      });
      expect((await fixture.confirmation(confirmation.id)).votes).toMatchObject([{ person: first }]);
      // The delegate was not asked, and can give it back; so can the delegator.
      await fixture.engine.revokeDelegation(id, { by: person(second) });
      await tryApprove(fixture.engine, confirmation.id, { by: person(second) });
      expect(await fixture.status(confirmation.id)).toBe("approved");
    },
  );

  test("and the delegator approve once, also after the clock was set back to before the delegation", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "bob");
    fixture.clock.shiftWall(-HOUR);
    const { confirmation } = await fixture.ask(payment());
    for (const by of [ANA, BOB]) await tryApprove(fixture.engine, confirmation.id, { by });
    expect(await fixture.status(confirmation.id)).toBe("requested");
  });

  test("who voted before the delegation was made keeps that vote", async () => {
    const fixture = await open({ hosts: false });
    const { confirmation, call } = await fixture.ask(payment());
    for (const by of [ANA, BOB]) await tryApprove(fixture.engine, confirmation.id, { by });
    await fixture.clock.advance(1);
    await fixture.delegate(ANA, "bob");
    await fixture.delegate(RITA, "ana");
    expect(await fixture.status(confirmation.id)).toBe("approved");
    fixture.engine.host(fixture.app);
    await fixture.engine.work({ once: true });
    expect(await fixture.call(call.id)).toMatchObject({ status: "succeeded" });
  });

  test("silences nobody: delegator and delegate deny each for themselves", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "bob");
    const { confirmation } = await fixture.ask(payment({ denials: 2 }));
    for (const by of [ANA, BOB])
      expect(await tryDeny(fixture.engine, confirmation.id, { by })).toMatchObject({ ok: true });
    expect(await fixture.status(confirmation.id)).toBe("denied");
  });

  test.each([
    ["ana", "carl"],
    ["carl", "ana"],
  ] as const)("of %s, who has voted, still votes for %s", async (first, second) => {
    const fixture = await open();
    for (const from of [ANA, CARL]) await fixture.delegate(from, "leo");
    const { confirmation } = await fixture.ask(payment({ denials: 2 }));
    await tryDeny(fixture.engine, confirmation.id, { by: person(first) });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: person("leo") })).toMatchObject({
      ok: true,
    });
    expect((await fixture.confirmation(confirmation.id)).votes).toMatchObject([
      { person: first, confirmed: false },
      { person: "leo", delegated: { from: second } },
    ]);
  });

  test("has no second place for a delegator who has voted", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "bob");
    const requirements = [
      { from: { users: ["bob", "carl"], notRequester: true }, count: 1 },
      { from: { users: ["ana", "eva"], notRequester: true }, count: 2 },
    ];
    const { confirmation } = await fixture.ask(payment({ requirements }));
    for (const by of [CARL, ANA]) await tryApprove(fixture.engine, confirmation.id, { by });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: BOB })).toMatchObject({
      code: "already-decided",
    });
    expect((await fixture.confirmation(confirmation.id)).votes).toHaveLength(2);
  });

  test("votes once, however many people delegated to them", async () => {
    const fixture = await open();
    for (const from of [ANA, CARL]) await fixture.delegate(from, "leo");
    const { confirmation } = await fixture.ask(payment());
    for (let times = 0; times < 2; times++)
      await tryApprove(fixture.engine, confirmation.id, { by: person("leo") });
    const { votes } = await fixture.confirmation(confirmation.id);
    expect(votes).toHaveLength(1);
    // For whom leo voted has no second vote; bob has one.
    const by = person(votes[0]?.delegated?.from ?? "");
    await tryApprove(fixture.engine, confirmation.id, { by });
    expect((await fixture.confirmation(confirmation.id)).votes).toMatchObject([{ person: by.id }]);
    await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(await fixture.status(confirmation.id)).toBe("approved");
  });

  test("of the requester is the requester: they approve nothing, and can deny", async () => {
    const fixture = await open();
    const scope = { tool: ["pay"] };
    const made = await Promise.all(["ana", "bob"].map((to) => fixture.delegate(RITA, to, { scope })));
    const { confirmation } = await fixture.ask(payment({ denials: 2 }));
    for (const by of [ANA, BOB]) {
      expect((await fixture.engine.confirmation(confirmation.id, { by })).can).toEqual({
        decide: true,
        amend: false,
        cancel: true,
        onlyDeny: true,
      });
      expect(await tryApprove(fixture.engine, confirmation.id, { by })).toMatchObject({
        code: "not-an-approver",
        message: expect.stringContaining("and the requester count as one person") as string,
      });
    }
    expect((await fixture.confirmation(confirmation.id)).votes).toEqual([]);
    // Else a requester could silence everybody who would deny.
    expect(await tryDeny(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({ ok: true });
    expect(await tryDeny(fixture.engine, confirmation.id, { by: BOB })).toMatchObject({ ok: true });
    expect(await fixture.status(confirmation.id)).toBe("denied");
    // Beyond the scope they are themselves, and so they are when they have given it back.
    const beyond = await fixture.ask({ ...only("ana"), tool: "fire" });
    expect(await tryApprove(fixture.engine, beyond.confirmation.id, { by: ANA })).toMatchObject({ ok: true });
    await fixture.engine.revokeDelegation(made[0]?.id ?? "", { by: ANA });
    const again = await fixture.ask(only("ana", "bob"));
    expect(await tryApprove(fixture.engine, again.confirmation.id, { by: BOB })).toMatchObject({ ok: false });
    expect(await tryApprove(fixture.engine, again.confirmation.id, { by: ANA })).toMatchObject({ ok: true });
  });

  test("of the requester does not approve by another login, by a role, or after an escalation", async () => {
    const policy: PolicySource = {
      judge: () => undefined,
      version: "v1",
      text: "",
      group: () => undefined,
      person: (id) => id.replace("github:", ""),
    };
    const fixture = await open({ policy });
    await fixture.delegate(RITA, "bob");
    const escalate = [{ afterMs: 1, to: { users: ["bob"] }, fills: [0] }];
    const questions = [
      [only("github:bob"), person("github:bob")],
      [
        payment({ requirements: [{ from: { roles: ["boss"], notRequester: true }, count: 1 }] }),
        { ...BOB, roles: ["boss"] },
      ],
      [payment({ requirements: [{ from: { notRequester: true }, count: 1 }] }), BOB],
      [
        payment({ requirements: [{ from: { users: ["ana"], notRequester: true }, count: 1 }], escalate }),
        BOB,
      ],
    ] as const;
    for (const [question, by] of questions) {
      const { confirmation } = await fixture.ask(question);
      await fixture.clock.advance(1);
      expect(await tryApprove(fixture.engine, confirmation.id, { by })).toMatchObject({
        code: "not-an-approver",
      });
      expect(await tryDeny(fixture.engine, confirmation.id, { by })).toMatchObject({ ok: true });
    }
  });

  test("of the requester never votes for the requester, nor does whoever delegated to the requester vote", async () => {
    const fixture = await open();
    await fixture.delegate(RITA, "leo");
    await fixture.delegate(CARL, "rita");
    const requirements = [{ from: { users: ["ana", "bob", "carl", "rita"], notRequester: true }, count: 2 }];
    const { confirmation } = await fixture.ask(payment({ requirements }));
    for (const by of [person("leo"), CARL, RITA])
      expect(await tryApprove(fixture.engine, confirmation.id, { by })).toMatchObject({
        code: "not-an-approver",
      });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: ANA })).toMatchObject({ ok: true });
  });

  test("does not pass on what was delegated to them: there are no chains", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "bob");
    await fixture.delegate(BOB, "carl");
    const { confirmation } = await fixture.ask(only("ana"));
    expect(await tryApprove(fixture.engine, confirmation.id, { by: CARL })).toMatchObject({
      code: "not-an-approver",
    });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: BOB })).toMatchObject({ ok: true });
  });

  test("gets no role, and does not confirm what the delegator asked for themselves", async () => {
    const fixture = await open();
    await fixture.delegate({ ...ANA, roles: ["finance"] }, "bob");
    const requirements = [{ from: { roles: ["finance"] }, count: 1 }];
    const byRole = await fixture.ask(payment({ requirements }));
    const own = await fixture.ask({ tool: "pay", question: { requesters: ["ana"] } });
    for (const { confirmation } of [byRole, own])
      expect(await tryApprove(fixture.engine, confirmation.id, { by: BOB })).toMatchObject({
        code: "not-an-approver",
      });
  });

  test("votes only within the scope", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "leo", { scope: { tool: ["pay*"], app: ["fin*"] } });
    const leo = person("leo");
    const within = await fixture.ask(only("ana"));
    const beyond = await fixture.ask({ ...only("ana"), tool: "fire" });
    expect(await tryApprove(fixture.engine, beyond.confirmation.id, { by: leo })).toMatchObject({
      code: "not-an-approver",
    });
    expect(await tryApprove(fixture.engine, within.confirmation.id, { by: leo })).toMatchObject({ ok: true });
  });

  test("that is an agent, a provider or a service acting for somebody does not vote", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "leo");
    const { confirmation } = await fixture.ask(only("ana"));
    const leo = person("leo");
    for (const by of [
      { ...leo, kind: "agent" as const },
      { ...leo, kind: "provider" as const, scopes: [] },
      { ...leo, onBehalfOf: "eva" },
    ])
      expect(await tryApprove(fixture.engine, confirmation.id, { by })).toMatchObject({ ok: false });
    expect((await fixture.confirmation(confirmation.id)).votes).toEqual([]);
  });

  test("does not change the delegator's own vote; the delegator changes and withdraws the delegate's", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "leo");
    const leo = person("leo");
    const { confirmation } = await fixture.ask(payment({ denials: 2 }));
    await tryDeny(fixture.engine, confirmation.id, { by: ANA });
    expect(await tryApprove(fixture.engine, confirmation.id, { by: leo })).toMatchObject({
      code: "already-decided",
      message: expect.stringContaining("Only ana can change that") as string,
    });
    await fixture.engine.withdrawVote(confirmation.id, { by: ANA });
    await tryApprove(fixture.engine, confirmation.id, { by: leo });
    await tryDeny(fixture.engine, confirmation.id, { by: ANA });
    expect((await fixture.confirmation(confirmation.id)).votes).toMatchObject([
      { confirmed: false, person: "ana" },
    ]);
    await fixture.engine.withdrawVote(confirmation.id, { by: ANA });
    await tryApprove(fixture.engine, confirmation.id, { by: leo });
    await fixture.engine.withdrawVote(confirmation.id, { by: ANA });
    expect((await fixture.confirmation(confirmation.id)).votes).toEqual([]);
  });

  test("votes for somebody who left the group no more than they themselves could", async () => {
    let members = { users: ["ana", "bob"] };
    const policy: PolicySource = {
      judge: () => undefined,
      version: "v1",
      text: "",
      group: () => members,
      person: (id) => id,
    };
    const fixture = await open({ policy });
    await fixture.delegate(ANA, "leo");
    const requirements = [{ from: members, count: 1, group: "finance" }];
    const { confirmation } = await fixture.ask(payment({ requirements }));
    members = { users: ["bob"] };
    const viewed = await fixture.engine.confirmation(confirmation.id, { by: ANA });
    expect(viewed.can.decide).toBe(false);
    expect(await tryApprove(fixture.engine, confirmation.id, { by: person("leo") })).toMatchObject({
      code: "not-an-approver",
    });
  });
});

describe("a delegation that ends before the last vote", () => {
  test.each(["revoked", "over"])(
    "%s: the vote does not count any more, and can be given again",
    async (how) => {
      const fixture = await open();
      const { id } = await fixture.delegate(ANA, "leo");
      const { confirmation } = await fixture.ask(payment());
      await tryApprove(fixture.engine, confirmation.id, { by: person("leo") });
      if (how === "revoked") await fixture.engine.revokeDelegation(id, { by: ANA });
      else await fixture.clock.advance(HOUR);
      await tryApprove(fixture.engine, confirmation.id, { by: BOB });
      expect(await fixture.confirmation(confirmation.id)).toMatchObject({
        status: "requested",
        votes: [{ person: "bob" }],
      });
      expect(await tryApprove(fixture.engine, confirmation.id, { by: person("leo") })).toMatchObject({
        code: "not-an-approver",
      });
      await tryApprove(fixture.engine, confirmation.id, { by: ANA });
      expect(await fixture.status(confirmation.id)).toBe("approved");
    },
  );

  test("a new delegation does not revive the vote", async () => {
    const fixture = await open();
    const { id } = await fixture.delegate(ANA, "leo");
    const { confirmation } = await fixture.ask(payment());
    await tryApprove(fixture.engine, confirmation.id, { by: person("leo") });
    await fixture.engine.revokeDelegation(id, { by: ANA });
    await fixture.delegate(ANA, "leo");
    await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    expect(await fixture.status(confirmation.id)).toBe("requested");
  });

  test.each(["revoked", "over"])(
    "%s after the last vote and before the claim: the call does not run",
    async (how) => {
      const file = createDatabaseFile();
      onTestFinished(() => file[Symbol.dispose]());
      const front = await open({ url: file.url, hosts: false });
      const { id } = await front.delegate(ANA, "leo");
      const { confirmation, call } = await front.ask(only("ana"));
      await tryApprove(front.engine, confirmation.id, { by: person("leo") });
      expect(await front.call(call.id)).toMatchObject({ status: "ready" });
      if (how === "revoked") await front.engine.revokeDelegation(id, { by: ANA });
      else await front.clock.advance(HOUR);
      const host = await openEngineFixture({ url: file.url, secret: SECRET, clock: front.clock });
      await host.engine.work({ once: true });
      expect(host.app.runs).toEqual([]);
      expect(await host.confirmation(confirmation.id)).toMatchObject({
        status: "cancelled",
        withdrawal: "too few approvals still count",
      });
    },
  );

  test("revoked while the vote is being committed: the vote is refused", async () => {
    const fixture = await open();
    const { id } = await fixture.delegate(ANA, "leo");
    const { confirmation } = await fixture.ask(only("ana"));
    const { items } = fixture.ledger;
    const list = items.list.bind(items);
    const before = await list("delegation");
    await fixture.engine.revokeDelegation(id, { by: ANA });
    // What was read before the revocation.
    items.list = async (...args) => {
      items.list = list;
      return args[0] === "delegation" ? before : list(...args);
    };
    expect(await tryApprove(fixture.engine, confirmation.id, { by: person("leo") })).toMatchObject({
      code: "not-an-approver",
    });
    expect(fixture.app.runs).toEqual([]);
  });

  test("made after both have voted, it takes nothing from their votes", async () => {
    const fixture = await open();
    const requirements = [
      { from: { users: ["ana", "bob"], notRequester: true }, count: 2 },
      { from: { users: ["carl"], notRequester: true }, count: 1 },
    ];
    const { confirmation } = await fixture.ask(payment({ requirements }));
    for (const by of [ANA, BOB]) await tryApprove(fixture.engine, confirmation.id, { by });
    await fixture.clock.advance(1);
    await fixture.delegate(ANA, "bob");
    await tryApprove(fixture.engine, confirmation.id, { by: CARL });
    expect(await fixture.status(confirmation.id)).toBe("approved");
  });
});

describe("making and revoking", () => {
  test.each<[string, Principal]>([
    ["another person", BOB],
    ["an agent", { ...ANA, kind: "agent" }],
    ["a provider", { ...ANA, kind: "provider", scopes: [] }],
    ["the author's code", { ...ANA, kind: "author", scopes: [] }],
    ["a service that acts for somebody", { ...ANA, onBehalfOf: "ana" }],
    ["an agent with every scope", { ...ANA, kind: "agent", scopes: ["decide", "admin"] }],
    ["somebody without the scope `decide`", { ...ANA, scopes: ["read"] }],
    ["nobody in particular", { id: "local", kind: "local", roles: [], scopes: [], authenticated: false }],
  ])("%s may not, for ana", async (_who, by) => {
    const fixture = await open();
    const { id } = await fixture.delegate(ANA, "leo");
    const wanted = { from: "ana", to: "eva", until: fixture.clock.now() + HOUR };
    await expect(fixture.engine.delegate(wanted, { by })).rejects.toMatchObject({ code: "forbidden" });
    await expect(fixture.engine.revokeDelegation(id, { by })).rejects.toMatchObject({ code: "forbidden" });
    expect(await fixture.engine.delegations()).toHaveLength(1);
  });

  test("the person, the delegate and an operator may revoke; an operator may make one for others", async () => {
    const fixture = await open();
    const operator = { ...person("ops"), scopes: ["admin"] };
    for (const by of [ANA, person("leo"), operator]) {
      const until = fixture.clock.now() + HOUR;
      const { id } = await fixture.engine.delegate({ from: "ana", to: "leo", until }, { by: operator });
      expect(await fixture.engine.delegations({ by: ANA })).toMatchObject([{ id, from: "ana", to: "leo" }]);
      expect(await fixture.engine.delegations({ by: CARL })).toEqual([]);
      await fixture.engine.revokeDelegation(id, { by });
      await expect(fixture.engine.revokeDelegation(id, { by })).rejects.toMatchObject({
        code: "unknown-delegation",
      });
    }
    const kinds = (await fixture.kinds()).filter((kind) => kind.startsWith("delegation"));
    expect(kinds.filter((kind) => kind === "delegation-revoked")).toHaveLength(3);
    expect((await fixture.engine.verify()).faults).toEqual([]);
  });

  test.each<[string, object]>([
    ["to oneself", { to: "ana" }],
    ["to nobody", { to: "" }],
    ["for the past", { until: 1 }],
    ["for ever", { until: Number.MAX_SAFE_INTEGER }],
    ["until no time", { until: Number.NaN }],
    ["for an empty list", { scope: { tool: [] } }],
    ["for a pattern with sets", { scope: { tool: ["[ab]*"] } }],
  ])("%s is refused", async (_what, wrong) => {
    const fixture = await open();
    const wanted = { to: "bob", until: fixture.clock.now() + HOUR, ...wrong };
    await expect(fixture.engine.delegate(wanted, { by: ANA })).rejects.toMatchObject({
      code: "malformed-request",
    });
  });

  test("one made or changed in the database gives no vote, where there is a secret", async () => {
    const fixture = await open();
    const { id } = await fixture.delegate(ANA, "leo");
    const { items } = fixture.ledger;
    const stored = await items.get("delegation", id);
    if (stored === undefined) throw new Error("not stored");
    const value = { ...(stored.value as object), to: "mallory" };
    await items.put({ ...stored, value }, stored.version);
    await items.put({ ...stored, id: "forged", value: { ...value, id: "forged" } }, 0);
    const { confirmation } = await fixture.ask(only("ana"));
    expect(await tryApprove(fixture.engine, confirmation.id, { by: person("mallory") })).toMatchObject({
      code: "not-an-approver",
    });
  });

  test("one that is over gives no vote, though somebody changed in the database when it expires", async () => {
    const fixture = await open();
    const { id } = await fixture.delegate(ANA, "leo");
    const { items } = fixture.ledger;
    const stored = await items.get("delegation", id);
    if (stored === undefined) throw new Error("not stored");
    await items.put({ ...stored, expiresAt: (stored.expiresAt ?? 0) + 24 * HOUR }, stored.version);
    await fixture.clock.advance(HOUR);
    const { confirmation } = await fixture.ask(only("ana"));
    expect(await tryApprove(fixture.engine, confirmation.id, { by: person("leo") })).toMatchObject({
      code: "not-an-approver",
    });
    expect(await fixture.engine.delegations()).toEqual([]);
  });

  test("a copy of one under another id is none: it would outlive the revocation", async () => {
    const fixture = await open();
    const { id } = await fixture.delegate(ANA, "leo");
    const { items } = fixture.ledger;
    const stored = await items.get("delegation", id);
    if (stored === undefined) throw new Error("not stored");
    await items.put({ ...stored, id: "copy" }, 0);
    await fixture.engine.revokeDelegation(id, { by: ANA });
    expect(await fixture.engine.delegations()).toEqual([]);
    const { confirmation } = await fixture.ask(only("ana"));
    expect(await tryApprove(fixture.engine, confirmation.id, { by: person("leo") })).toMatchObject({
      code: "not-an-approver",
    });
  });

  test("nobody makes more than 20, also when two are made at the same time", async () => {
    const fixture = await open();
    for (let index = 0; index < 19; index++) await fixture.delegate(ANA, `leo-${index}`);
    const { items } = fixture.ledger;
    const list = items.list.bind(items);
    // Another one is made after the first was told how many there are.
    items.list = async (...args) => {
      items.list = list;
      const before = await list(...args);
      await fixture.delegate(ANA, "eva");
      return before;
    };
    await expect(fixture.delegate(ANA, "leo")).rejects.toMatchObject({ code: "malformed-request" });
    expect(await fixture.engine.delegations()).toHaveLength(20);
    await fixture.delegate(BOB, "leo");
  });

  test("however many there are, all count, and only making more is refused", async () => {
    const fixture = await open();
    const { id } = await fixture.delegate(ANA, "leo");
    const { items } = fixture.ledger;
    const stored = await items.get("delegation", id);
    if (stored === undefined) throw new Error("not stored");
    // Ids that are listed before it.
    const others = Array.from({ length: 1_001 }, (_, index) => `!${index}`);
    await Promise.all(
      others.map((other) =>
        items.put({ ...stored, id: other, value: { ...(stored.value as object), id: other } }, 0),
      ),
    );
    expect(await fixture.engine.delegations()).toHaveLength(1_002);
    await expect(fixture.delegate(BOB, "leo")).rejects.toMatchObject({ code: "malformed-request" });
    const { confirmation } = await fixture.ask(only("ana"));
    expect(await tryApprove(fixture.engine, confirmation.id, { by: person("leo") })).toMatchObject({
      ok: true,
    });
  });

  test("between two logins of one person is refused, and one that became so makes nobody one", async () => {
    let people: Readonly<Record<string, string>> = {};
    const policy: PolicySource = {
      judge: () => undefined,
      version: "v1",
      text: "",
      group: () => undefined,
      person: (id) => people[id] ?? id,
    };
    const fixture = await open({ policy });
    await fixture.delegate(ANA, "github:ana");
    people = { "github:ana": "ana" };
    await expect(fixture.delegate(ANA, "github:ana")).rejects.toMatchObject({ code: "malformed-request" });
    const { confirmation } = await fixture.ask(payment());
    for (const by of [ANA, BOB]) await tryApprove(fixture.engine, confirmation.id, { by });
    expect(await fixture.status(confirmation.id)).toBe("approved");
  });

  test("a restored ledger has none: one that was revoked since the backup would stand again", async () => {
    const fixture = await open();
    await fixture.delegate(ANA, "leo");
    await fixture.engine.markRestored({ by: { id: "ops" } });
    expect(await fixture.engine.delegations()).toEqual([]);
    expect(await fixture.kinds()).toContain("delegation-revoked");
  });

  test("a delegation can be revoked after its journal was pruned", async () => {
    const fixture = await open();
    const { id } = await fixture.delegate(ANA, "leo", { ms: 48 * HOUR });
    await fixture.clock.advance(24 * HOUR);
    await fixture.engine.prune(HOUR);
    await fixture.engine.revokeDelegation(id, { by: ANA });
    expect(await fixture.engine.delegations()).toEqual([]);
  });
});
