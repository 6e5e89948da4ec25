import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../protocol/index.ts";
import { createLedger } from "../../stores/index.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type PrincipalInput, toPrincipal } from "../people/principal.ts";
import { watch } from "../testing/execution.ts";
import { loseCommit, setsStatus } from "../testing/forgetful.ts";
import type { CallerOutcome } from "./caller-outcome.ts";
import type { CallerClaim } from "./claim.ts";
import type { Proposal } from "./proposal.ts";

const bot = toPrincipal({ id: "bot", kind: "agent", authenticated: true, scopes: ["propose"] });
const ana: PrincipalInput = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] };
const LEASE_MS = 60_000;
const mine = { by: "bot", key: "order-17" };
const claiming = { leaseMs: LEASE_MS };

let clock: ManualClock;
let ledger: Ledger;
let engine: Engine;

beforeEach(async () => {
  clock = new ManualClock();
  ledger = await createLedger("memory:", { clock });
  engine = new Engine({ ledger, clock });
});

afterEach(async () => {
  await engine.close();
});

function proposal(more: Partial<Proposal> = {}): Proposal {
  return { by: bot, app: "shop", tool: "refund", args: { amount: 40 }, key: mine.key, ...more };
}

async function approve(outcome: CallerOutcome, args?: JsonObject): Promise<void> {
  await engine.approve(outcome.confirmation?.id ?? "", { by: ana, ...(args === undefined ? {} : { args }) });
}

async function claimed(): Promise<CallerClaim> {
  const { claim, outcome } = await engine.callers.claim(mine, claiming);
  if (claim === undefined) throw new Error(`It is ${outcome.status}.`);
  return claim;
}

async function asked(more: Partial<Proposal> = {}): Promise<CallerClaim> {
  await approve(await engine.callers.propose(proposal(more)));
  return claimed();
}

const done = { kind: "succeeded", result: { refunded: 40 } } as const;

test("a caller whose schema takes long to check has to wait before it sends the next", async () => {
  await engine.close();
  engine = new Engine({ ledger: await createLedger("memory:") });
  const slow = { properties: { a: { pattern: "^(a+)+$" } } };
  const sent = { schema: slow, args: { a: `${"a".repeat(60)}!` } };
  const codes: string[] = [];
  for (const key of ["k1", "k2"])
    await engine.callers
      .propose(proposal({ ...sent, key }))
      .catch((error: { readonly code: string }) => codes.push(error.code));
  expect(codes).toEqual(["arguments-mismatch", "rate-limited"]);
  const other = await engine.callers.propose(proposal({ by: { ...bot, id: "other" } }));
  expect(other.status).toBe("pending");
});

test("changed arguments that take long to check count for the caller whose schema it is", async () => {
  await engine.close();
  engine = new Engine({ ledger: await createLedger("memory:") });
  const schema = { properties: { a: { pattern: "^(a+)+$" } } };
  const { confirmation } = await engine.callers.propose(
    proposal({ schema, args: { a: "a" }, amendable: true }),
  );
  const change = async (a: string): Promise<string> =>
    engine.approve(confirmation?.id ?? "", { by: ana, args: { a } }).then(
      () => "approved",
      (error: { readonly message: string }) => error.message,
    );
  expect(await change(`${"a".repeat(60)}!`)).toContain("cannot be checked within");
  expect(await change("aa")).toContain("took too long to check");
});

describe("a call that its caller runs", () => {
  test("waits for a person, is claimed once, and keeps what the caller reports", async () => {
    const pending = await engine.callers.propose(proposal({ hint: "Refund 40 EUR?" }));
    expect(pending).toMatchObject({ status: "pending", args: { amount: 40 }, attempt: 0 });
    expect(pending.confirmation).toMatchObject({
      hint: "Refund 40 EUR?",
      requesters: ["bot"],
      requirements: [{ from: { notRequester: true }, count: 1 }],
    });
    expect((await engine.callers.claim(mine, claiming)).claim).toBeUndefined();
    await approve(pending);
    // No process of ours may take it.
    await engine.work({ once: true });
    expect(await engine.callers.read(mine)).toMatchObject({ status: "allowed" });

    const claim = await claimed();
    expect(claim).toMatchObject({ attempt: 1, args: { amount: 40 } });
    const second = await engine.callers.claim(mine, claiming);
    expect(second.claim).toBeUndefined();
    expect(second.outcome.status).toBe("executing");
    const ended = await engine.callers.end(mine, claim, done);
    expect(ended).toMatchObject({ status: "succeeded", result: { refunded: 40 }, attempt: 1 });
    expect(await engine.callers.propose(proposal())).toMatchObject({ id: pending.id, status: "succeeded" });
    expect((await engine.callers.claim(mine, claiming)).claim).toBeUndefined();
    expect(await engine.verify()).toMatchObject({ ok: true });
  });

  test("gives one of 16 claims at once", async () => {
    await approve(await engine.callers.propose(proposal()));
    const all = await Promise.all(Array.from({ length: 16 }, () => engine.callers.claim(mine, claiming)));
    expect(all.filter(({ claim }) => claim !== undefined)).toHaveLength(1);
  });

  test("answers a repeated claim with the same nonce the same, and any other not", async () => {
    await approve(await engine.callers.propose(proposal()));
    const request = { ...claiming, nonce: "a-random-value-of-the-caller" };
    const first = await engine.callers.claim(mine, request);
    expect(await engine.callers.claim(mine, request)).toEqual(first);
    expect((await engine.callers.claim(mine, { ...request, nonce: "another" })).claim).toBeUndefined();
  });

  test("accepts the same report twice and refuses a different one", async () => {
    const claim = await asked();
    await engine.callers.end(mine, claim, done);
    await engine.callers.end(mine, claim, done);
    const other = { kind: "failed", error: { error: "no" } } as const;
    await expect(engine.callers.end(mine, claim, other)).rejects.toMatchObject({ code: "claim-lost" });
    expect(await engine.callers.read(mine)).toMatchObject({ status: "succeeded" });
  });

  test("tells its caller about a failure, a denial and a deadline that passed", async () => {
    const claim = await asked();
    const failed = await engine.callers.end(mine, claim, {
      kind: "failed",
      error: { error: "card declined" },
    });
    expect(failed).toMatchObject({ status: "failed", error: "card declined" });
    const second = await engine.callers.propose(proposal({ key: "two" }));
    await engine.deny(second.confirmation?.id ?? "", { by: ana, reason: "too much" });
    expect(await engine.callers.read({ by: "bot", key: "two" })).toMatchObject({
      status: "denied",
      reason: "too much",
    });
    await engine.callers.propose(proposal({ key: "three", expiresInMs: 1_000 }));
    await clock.advance(2_000);
    await engine.work({ once: true });
    expect(await engine.callers.read({ by: "bot", key: "three" })).toMatchObject({ status: "expired" });
  });

  test("is not run by a process that hosts an app and a tool of the same name", async () => {
    let runs = 0;
    engine.gate("refund", { app: "shop" }, async () => {
      runs += 1;
      return null;
    });
    await approve(await engine.callers.propose(proposal()));
    await engine.work({ once: true });
    expect(runs).toBe(0);
    expect(await engine.callers.read(mine)).toMatchObject({ status: "allowed" });
  });
});

describe("a caller's key", () => {
  test.each([
    ["arguments", { args: { amount: 4_000 } }],
    ["tool", { tool: "charge" }],
    ["app", { app: "bank" }],
    ["thread", { thread: "t2" }],
  ])("is one call: another %s under it is refused", async (_what, more) => {
    await engine.callers.propose(proposal());
    await expect(engine.callers.propose(proposal(more))).rejects.toMatchObject({ code: "key-reused" });
  });

  test("is a call for one user, if the caller says so: for another one it is refused", async () => {
    const forUser = (user: string): Proposal =>
      proposal({ by: { ...bot, onBehalfOf: user }, sameUser: true, approvers: "requester" });
    const first = await engine.callers.propose(forUser("ana"));
    await approve(first);
    await expect(engine.callers.propose(forUser("bob"))).rejects.toMatchObject({ code: "key-reused" });
    await expect(engine.callers.propose(proposal({ sameUser: true }))).rejects.toMatchObject({
      code: "key-reused",
    });
    expect(await engine.callers.propose(forUser("ana"))).toMatchObject({ id: first.id, status: "allowed" });
  });

  test("stays the same call after an amendment", async () => {
    const first = await engine.callers.propose(proposal({ amendable: ["amount"] }));
    await approve(first, { amount: 20 });
    const again = await engine.callers.propose(proposal({ amendable: ["amount"] }));
    expect(again).toMatchObject({ id: first.id, status: "allowed", args: { amount: 20 }, amended: true });
    expect(await claimed()).toMatchObject({ args: { amount: 20 } });
  });

  test("of somebody else names nothing", async () => {
    await asked();
    const others = { by: "eve", key: mine.key };
    await expect(engine.callers.read(others)).rejects.toMatchObject({ code: "unknown-call" });
    await expect(engine.callers.claim(others, claiming)).rejects.toMatchObject({ code: "unknown-call" });
  });

  test("does not start another call after the first was pruned", async () => {
    await engine.callers.end(mine, await asked(), done);
    await clock.advance(100_000);
    expect(await engine.prune(10_000)).toBe(1);
    const again = await engine.callers.propose(proposal());
    expect(again).toMatchObject({ status: "succeeded", args: {} });
    expect(again.result).toBeUndefined();
  });
});

async function loseClaim(): Promise<void> {
  await clock.advance(LEASE_MS + 1_000);
  await engine.work({ once: true });
}

describe("what the model sent", () => {
  const first = { items: [{ name: "a", id: "1" }], note: null, order: "o-1" };
  const again = { items: [{ name: "a", id: "2" }], note: "x", order: "o-2" };
  const sent = { items: [{ name: "a" }] };

  test("names the call also if parsing adds something else to it each time", async () => {
    const pending = await engine.callers.propose(proposal({ args: first, sent }));
    expect(await engine.callers.propose(proposal({ args: again, sent }))).toMatchObject({
      id: pending.id,
      args: first,
    });
    await approve(pending);
    await engine.callers.propose(proposal({ args: again, sent }));
    expect(await claimed()).toMatchObject({ args: first });
  });

  test.each([
    ["of a member that was sent", { ...sent, order: "o-2" }, again],
    ["of a member of an item", { items: [{ name: "a", id: "2" }] }, again],
    ["of an item", { items: [{ name: "b" }] }, { ...again, items: [{ name: "b", id: "2" }] }],
    [
      "of more items",
      { items: [{ name: "a" }, { name: "a" }] },
      { ...again, items: [...again.items, ...again.items] },
    ],
    ["of a member that was not there", sent, { ...again, more: 1 }],
  ])("must be the same: another value %s is refused", async (_of, other, args) => {
    await engine.callers.propose(proposal({ args: first, sent }));
    await expect(engine.callers.propose(proposal({ args, sent: other }))).rejects.toMatchObject({
      code: "key-reused",
    });
  });
});

describe("arguments that parsing renames", () => {
  const ten = {
    sent: { pay: { to: "alice", amount: 10 } },
    args: { pay: { recipient: "alice", cents: 1_000 } },
  };
  const more = {
    sent: { pay: { to: "bob", amount: 5_000 } },
    args: { pay: { recipient: "bob", cents: 500_000 } },
  };

  test.each([
    ["was seen as it was sent", ten],
    ["was seen only as it was parsed", { args: ten.args }],
    ["had nothing that is sent now", { args: { pay: {} }, sent: { pay: {} } }],
  ])("are another call's if they differ, also if the first call %s", async (_what, first) => {
    await engine.callers.propose(proposal(first));
    await expect(engine.callers.propose(proposal(more))).rejects.toMatchObject({ code: "key-reused" });
  });

  test("are the same call's if they were sent the same, with the defaults that people saw", async () => {
    const args = { ...ten.args, order: "o-1" };
    const { id } = await engine.callers.propose(proposal({ ...ten, args }));
    const again = await engine.callers.propose(proposal({ ...ten, args: { ...args, order: "o-2" } }));
    expect(again).toMatchObject({ id, args });
  });

  test("stay the same call's after an amendment", async () => {
    const args = { amount: 40, order: "o-1" };
    const sent = { amount: 40 };
    const first = await engine.callers.propose(proposal({ args, sent, amendable: ["amount"] }));
    await approve(first, { amount: 20, order: "o-1" });
    const again = { args: { ...args, order: "o-2" }, sent, amendable: ["amount"] };
    expect(await engine.callers.propose(proposal(again))).toMatchObject({ id: first.id, amended: true });
    const other = { args: { amount: 20, order: "o-1" }, sent: { amount: 20 } };
    await expect(engine.callers.propose(proposal(other))).rejects.toMatchObject({ code: "key-reused" });
  });
});

describe("two calls that are parsed to the same arguments", () => {
  const args = { amount: 40, order: "o-1" };

  test.each([
    ["fewer members", { amount: 40, order: "o-1" }, { amount: 40 }],
    ["more members", { amount: 40 }, { amount: 40, order: "o-1" }],
    ["renamed members", { amount: 40 }, { sum: 40 }],
  ])("are not the same if one was sent with %s", async (_what, first, later) => {
    const { id } = await engine.callers.propose(proposal({ args, sent: first }));
    await expect(engine.callers.propose(proposal({ args, sent: later }))).rejects.toMatchObject({
      code: "key-reused",
    });
    expect(await engine.callers.propose(proposal({ args, sent: first }))).toMatchObject({ id });
  });

  test("are the same if it is not known what one of them was sent as", async () => {
    const { id } = await engine.callers.propose(proposal({ args }));
    expect(await engine.callers.propose(proposal({ args, sent: { amount: 40 } }))).toMatchObject({ id });
    const known = await engine.callers.propose(proposal({ key: "two", args, sent: { amount: 40 } }));
    expect(await engine.callers.propose(proposal({ key: "two", args }))).toMatchObject({ id: known.id });
  });

  test("are not the same if the first one's own values are not known, and it was parsed to others", async () => {
    await engine.callers.propose(proposal({ args }));
    const again = { args: { ...args, order: "o-2" }, sent: { amount: 40 } };
    await expect(engine.callers.propose(proposal(again))).rejects.toMatchObject({ code: "key-reused" });
  });
});

describe("a claim that is not renewed", () => {
  test("leaves the call unknown; its late result still counts, until a person has settled it", async () => {
    const claim = await asked();
    await loseClaim();
    expect(await engine.callers.read(mine)).toMatchObject({ status: "unknown" });
    expect((await engine.callers.claim(mine, claiming)).claim).toBeUndefined();
    await expect(engine.callers.heartbeat(mine, { ...claim, ...claiming })).rejects.toMatchObject({
      code: "claim-lost",
    });
    expect(await engine.callers.end(mine, claim, done)).toMatchObject({ status: "succeeded" });
  });

  test("is not lost while it is renewed", async () => {
    const claim = await asked();
    for (let beats = 0; beats < 3; beats += 1) {
      await clock.advance(LEASE_MS - 5_000);
      await engine.callers.heartbeat(mine, { ...claim, ...claiming });
      await engine.work({ once: true });
    }
    expect(await engine.callers.read(mine)).toMatchObject({ status: "executing" });
  });

  test("lets an idempotent call be claimed again, and refuses the lost attempt's report", async () => {
    const first = await asked({ idempotent: true });
    await loseClaim();
    const second = await claimed();
    expect(second.attempt).toBe(2);
    await expect(engine.callers.end(mine, first, done)).rejects.toMatchObject({ code: "claim-lost" });
    expect(await engine.callers.end(mine, second, done)).toMatchObject({ status: "succeeded", attempt: 2 });
  });

  test("that the ledger lost makes the call unknown, and not free to claim again", async () => {
    const watched = watch(ledger);
    const here = new Engine({ ledger: watched.ledger, clock });
    await approve(await here.callers.propose(proposal()));
    loseCommit(watched, setsStatus("call-update", "executing"));
    const { claim } = await here.callers.claim(mine, claiming);
    expect(await here.callers.read(mine)).toMatchObject({ status: "allowed", attempt: 0 });
    if (claim === undefined) throw new Error("It was not claimed.");
    await expect(here.callers.heartbeat(mine, { ...claim, ...claiming })).rejects.toMatchObject({
      code: "claim-lost",
    });
    expect(await here.callers.read(mine)).toMatchObject({ status: "unknown" });
    expect((await here.callers.claim(mine, claiming)).claim).toBeUndefined();
  });
});

test("a claim that a replaced server lost is not given again: this process knows that it started", async () => {
  const watched = watch(ledger);
  const server = { history: "1", claimsInMs: 0 };
  watched.intercept("owners.history", () =>
    Promise.resolve({ id: server.history, claimsInMs: server.claimsInMs }),
  );
  const here = new Engine({ ledger: watched.ledger, clock, onNotice: () => {} });
  await approve(await here.callers.propose(proposal()));
  await approve(await here.callers.propose(proposal({ key: "earlier" })));
  await here.callers.claim({ by: "bot", key: "earlier" }, claiming);
  loseCommit(watched, setsStatus("call-update", "executing"));
  await here.callers.claim(mine, claiming);
  expect(await here.callers.read(mine)).toMatchObject({ status: "allowed" });

  server.history = "2";
  await clock.advance(6_000);
  const second = here.callers.claim(mine, { ...claiming, nonce: "another-process" });
  // Nobody claims before every process has compared what it knows.
  for (let seconds = 0; seconds < 30; seconds += 1) await clock.advance(1_000);
  expect((await second).claim).toBeUndefined();
  expect(await here.callers.read(mine)).toMatchObject({ status: "unknown" });
});

test("a call that needs a policy is refused where there is none, and leaves nothing behind", async () => {
  const leftToPolicy = proposal({ requireConfirmation: false, requirePolicy: true });
  await expect(engine.callers.propose(leftToPolicy)).rejects.toMatchObject({
    code: "malformed-request",
    details: { field: "requirePolicy" },
  });
  await expect(engine.callers.read(mine)).rejects.toMatchObject({ code: "unknown-call" });
  const ruled = new Engine({ ledger, clock, policy: () => undefined });
  expect(await ruled.callers.propose(leftToPolicy)).toMatchObject({ status: "allowed" });
});

test("what an agent did without being asked can be settled by a person", async () => {
  await engine.callers.propose(proposal({ requireConfirmation: false }));
  const { outcome } = await engine.callers.claim(mine, claiming);
  await loseClaim();
  const settlement = { as: "succeeded", result: null } as const;
  await expect(engine.settleCall(outcome.id, settlement, { by: bot })).rejects.toMatchObject({
    code: "not-an-approver",
  });
  expect(await engine.settleCall(outcome.id, settlement, { by: ana })).toMatchObject({ status: "succeeded" });
});

test("reports that contradict the stored end are journalled once", async () => {
  const claim = await asked();
  await engine.callers.end(mine, claim, done);
  for (let n = 0; n < 5; n += 1) {
    const other = { kind: "succeeded", result: n } as const;
    await expect(engine.callers.end(mine, claim, other)).rejects.toMatchObject({ code: "claim-lost" });
  }
  const records = await ledger.journal.records({ after: 0, limit: 200 });
  expect(records.filter(({ kind }) => kind === "late-result")).toHaveLength(1);
});

describe("a claim", () => {
  test.each([
    ["an invented token", { token: "x.y" }],
    ["a later attempt", { attempt: 7 }],
  ])("cannot be made up: %s changes nothing", async (_what, forged) => {
    await engine.callers.propose(proposal());
    const proof = { token: "nonce.mac", attempt: 1, ...forged };
    await expect(engine.callers.end(mine, proof, done)).rejects.toMatchObject({ code: "claim-lost" });
    await expect(engine.callers.heartbeat(mine, { ...proof, ...claiming })).rejects.toMatchObject({
      code: "claim-lost",
    });
    expect(await engine.callers.read(mine)).toMatchObject({ status: "pending" });
  });

  test("of one call does not serve for another", async () => {
    const claim = await asked();
    await approve(await engine.callers.propose(proposal({ key: "two" })));
    const two = { by: "bot", key: "two" };
    await engine.callers.claim(two, claiming);
    await expect(engine.callers.end(two, claim, done)).rejects.toMatchObject({ code: "claim-lost" });
    expect(await engine.callers.read(two)).toMatchObject({ status: "executing" });
  });

  test("gets secrets that nobody else is shown", async () => {
    const pending = await engine.callers.propose(
      proposal({ args: { amount: 40, card: "4242" }, secrets: ["/card"] }),
    );
    expect(JSON.stringify(pending)).not.toContain("4242");
    await approve(pending);
    expect((await claimed()).args).toEqual({ amount: 40, card: "4242" });
  });
});

const denies = (limit: number): Engine =>
  new Engine({
    ledger,
    clock,
    policy: ({ args, entryPoint }) =>
      Number(args["amount"]) > limit ? { outcome: "deny", reason: `too much for ${entryPoint}` } : undefined,
  });

describe("the gate of a call that its caller runs", () => {
  test("allows it at once if neither the caller nor a policy wants a person", async () => {
    const allowed = await engine.callers.propose(proposal({ requireConfirmation: false }));
    expect(allowed).toMatchObject({ status: "allowed" });
    expect(await claimed()).toMatchObject({ attempt: 1 });
  });

  test("denies what a policy denies: when it is asked, amended or claimed", async () => {
    expect(await denies(10).callers.propose(proposal())).toMatchObject({
      status: "denied",
      reason: "too much for api",
    });
    const two = proposal({ key: "two", amendable: ["amount"] });
    const pending = await engine.callers.propose(two);
    await expect(
      denies(50).approve(pending.confirmation?.id ?? "", { by: ana, args: { amount: 60 } }),
    ).rejects.toMatchObject({ code: "policy-denied" });
    await approve(pending);
    const late = await denies(10).callers.claim({ by: "bot", key: "two" }, claiming);
    expect(late.claim).toBeUndefined();
    expect(late.outcome.status).not.toBe("executing");
  });

  test("refuses arguments that do not fit the caller's schema, before anybody is asked", async () => {
    const schema = { type: "object", properties: { amount: { type: "number", maximum: 10 } } };
    await expect(engine.callers.propose(proposal({ schema }))).rejects.toMatchObject({
      code: "arguments-mismatch",
    });
    expect(await engine.pending()).toEqual([]);
  });

  test("asks at most as many questions in one thread as a session may have open", async () => {
    const small = new Engine({ ledger, clock, maxOpen: 2 });
    for (const key of ["a", "b"]) await small.callers.propose(proposal({ key, thread: "t" }));
    const third = proposal({ key: "c", thread: "t" });
    await expect(small.callers.propose(third)).rejects.toMatchObject({ code: "too-many-open" });
    const [open] = await small.pending();
    await small.deny(open?.id ?? "", { by: ana });
    expect(await small.callers.propose(third)).toMatchObject({ status: "pending" });
  });

  test.each([
    ["the apps and threads", { amount: 40 }],
    ["their size", { amount: 40, memo: "漢".repeat(3_900) }],
  ])("asks at most 100 questions of one caller at a time, whatever %s", async (_what, args) => {
    for (let n = 0; n < 100; n += 1)
      await engine.callers.propose(proposal({ key: `k${n}`, app: `a${n}`, args }));
    await expect(engine.callers.propose(proposal())).rejects.toMatchObject({ code: "too-many-open" });
    expect(await ledger.items.list("call-key", { limit: 200 })).toMatchObject({ items: { length: 100 } });
    const other = toPrincipal({ ...bot, id: "bot2" });
    expect(await engine.callers.propose(proposal({ by: other }))).toMatchObject({ status: "pending" });
  });

  test("refuses a question that nobody could decide: an agent's own approval", async () => {
    await expect(engine.callers.propose(proposal({ approvers: "requester" }))).rejects.toMatchObject({
      code: "malformed-request",
      details: { field: "approvers" },
    });
  });

  test("does not let amended arguments pass a rule that their approver does not meet", async () => {
    const strict = new Engine({
      ledger,
      clock,
      policy: ({ args }) =>
        Number(args["amount"]) > 1_000
          ? { outcome: "confirm", reason: "big", notRequester: true }
          : undefined,
    });
    const maker = toPrincipal({
      id: "ana",
      kind: "token",
      authenticated: true,
      scopes: ["propose", "decide"],
    });
    const small = proposal({ by: maker, args: { amount: 10 }, amendable: ["amount"], key: "small" });
    const pending = await strict.callers.propose(small);
    await expect(
      strict.approve(pending.confirmation?.id ?? "", { by: maker, args: { amount: 100_000 } }),
    ).rejects.toMatchObject({ code: "policy-denied" });
    expect(await strict.callers.read({ by: "ana", key: "small" })).toMatchObject({ status: "pending" });
  });
});
