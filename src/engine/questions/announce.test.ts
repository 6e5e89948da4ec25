import { expect, test } from "vitest";
import { type AskInput, openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import { ManualClock } from "../common/manual-clock.ts";
import { Engine } from "../engine.ts";
import { tryApprove } from "../testing/try-decide.ts";

const [ANA, CFO, RITA] = [person("ana"), person("cfo"), person("rita")];
const HOUR = 3_600_000;

/** One of ana or bob, a reminder after half an hour, and the cfo or rita after an hour; asked for by rita. */
const PAYMENT: AskInput = {
  tool: "pay",
  question: {
    requirements: [{ from: { users: ["ana", "bob"], notRequester: true }, count: 1 }],
    requesters: ["rita"],
    expiresInMs: 4 * HOUR,
    remindAfterMs: [HOUR / 2, 5 * HOUR],
    escalate: [
      { afterMs: HOUR, to: { users: ["cfo", "rita"] }, fills: [0] },
      { afterMs: 4 * HOUR, to: { users: ["late"] }, fills: [0] },
    ],
  },
};

test("who may decide when is a function of the rule and the ledger's clock; nothing at the deadline or later", async () => {
  const fixture = await openEngineFixture();
  const { clock } = fixture;
  const { confirmation } = await fixture.ask(PAYMENT);
  expect(confirmation).toMatchObject({
    reminders: [{ at: clock.now() + HOUR / 2, sent: false }],
    escalations: [{ at: clock.now() + HOUR, to: { users: ["cfo", "rita"] }, reached: false }],
  });
});

test("whoever it escalates to may decide from that time on, whether or not a worker wrote it", async () => {
  const fixture = await openEngineFixture();
  const { confirmation } = await fixture.ask(PAYMENT);
  await fixture.clock.advance(HOUR - 1);
  expect(await tryApprove(fixture.engine, confirmation.id, { by: CFO })).toMatchObject({
    ok: false,
    code: "not-an-approver",
  });
  await fixture.clock.advance(1);
  expect(await tryApprove(fixture.engine, confirmation.id, { by: RITA })).toMatchObject({
    ok: false,
    code: "not-an-approver",
  });
  expect(await tryApprove(fixture.engine, confirmation.id, { by: CFO })).toMatchObject({
    ok: true,
    confirmation: { status: "approved" },
  });
});

test("a process whose clock is ahead escalates nothing early", async () => {
  const fixture = await openEngineFixture();
  const { confirmation } = await fixture.ask(PAYMENT);
  const ahead = new Engine({
    ledger: fixture.ledger,
    clock: new ManualClock(fixture.clock.now() + 2 * HOUR),
  });
  await ahead.work({ once: true });
  expect(await tryApprove(ahead, confirmation.id, { by: CFO })).toMatchObject({ code: "not-an-approver" });
  expect(await fixture.kinds()).not.toContain("confirmation-escalated");
});

test("a worker writes each reminder and escalation once, and people see who was added", async () => {
  const fixture = await openEngineFixture();
  const { confirmation } = await fixture.ask(PAYMENT);
  const kinds = async () => (await fixture.kinds()).filter((kind) => /reminded|escalated/.test(kind));
  await fixture.engine.work({ once: true });
  expect(await kinds()).toEqual([]);
  await fixture.clock.advance(HOUR / 2);
  await Promise.all([fixture.engine.work({ once: true }), fixture.engine.work({ once: true })]);
  expect(await kinds()).toEqual(["confirmation-reminded"]);
  expect((await fixture.engine.confirmation(confirmation.id, { by: CFO })).can.decide).toBe(false);
  await fixture.clock.advance(HOUR / 2);
  await fixture.engine.work({ once: true });
  await fixture.engine.work({ once: true });
  expect(await kinds()).toEqual(["confirmation-reminded", "confirmation-escalated"]);
  const shown = await fixture.engine.confirmation(confirmation.id, { by: CFO });
  expect(shown).toMatchObject({ escalations: [{ reached: true }], can: { decide: true } });
});

test("a decided, expired or withdrawn question is told of no more", async () => {
  const fixture = await openEngineFixture();
  const { confirmation } = await fixture.ask(PAYMENT);
  await tryApprove(fixture.engine, confirmation.id, { by: ANA });
  await fixture.clock.advance(2 * HOUR);
  await fixture.engine.work({ once: true });
  expect((await fixture.kinds()).filter((kind) => /reminded|escalated/.test(kind))).toEqual([]);
});

test("a vote dated before the escalation does not count, even if somebody writes it into the database", async () => {
  const fixture = await openEngineFixture({ hosts: false });
  const { confirmation, call } = await fixture.ask(PAYMENT);
  await fixture.clock.advance(HOUR);
  const approved = await tryApprove(fixture.engine, confirmation.id, { by: CFO });
  expect(approved).toMatchObject({ ok: true, call: { status: "ready" } });
  const { tally } = await import("../people/index.ts");
  const [vote] = approved.confirmation?.votes ?? [];
  if (vote === undefined || approved.confirmation === undefined) throw new Error(call.id);
  const directory = { group: () => undefined, person: (id: string) => id };
  const earlier = { ...approved.confirmation, votes: [{ ...vote, at: vote.at - 1 }] };
  expect(tally(earlier, { directory, now: fixture.clock.now() }).outcome).toBe("open");
});
