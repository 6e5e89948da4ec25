import { expect, test } from "vitest";
import { openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import { tryApprove } from "../testing/try-decide.ts";

const [ANA, BOB] = [person("ana"), person("bob")];
const PAYMENT = {
  tool: "pay",
  question: { requirements: [{ from: { users: ["ana", "bob"] }, count: 1 }], requesters: ["rita"] },
} as const;

test("each person who opens a question is noted once, in the question and in the journal", async () => {
  const fixture = await openEngineFixture();
  const { clock, engine, ledger } = fixture;
  const { id } = (await fixture.ask(PAYMENT)).confirmation;
  const see = (by: typeof ANA) => engine.decisions.noteSighting(id, { by, via: "api" });
  const version = async () => (await ledger.load({ confirmation: id }))?.session.version;
  await see(ANA);
  const [first, then] = [clock.now(), await version()];
  await clock.advance(60_000);
  await see(ANA);
  expect(await version()).toBe(then);
  await see(BOB);
  const noted = (await fixture.journal()).filter(({ kind }) => kind === "confirmation-seen");
  expect(noted.map(({ body }) => body)).toMatchObject([
    { confirmation: id, by: { id: "ana" }, via: "api", person: "ana" },
    { confirmation: id, by: { id: "bob" } },
  ]);
  expect((await engine.confirmation(id)).seen).toEqual([
    { by: { id: "ana", kind: "oidc", authenticated: true }, via: "api", at: new Date(first).toISOString() },
    expect.objectContaining({ at: new Date(first + 60_000).toISOString() }),
  ]);
  expect(await engine.verify()).toMatchObject({ ok: true });
});

test("a decision on the version that was shown before somebody else looked stands", async () => {
  const fixture = await openEngineFixture();
  const { confirmation } = await fixture.ask(PAYMENT);
  const version = confirmation.shownVersion;
  const [, decided] = await Promise.all([
    fixture.engine.decisions.noteSighting(confirmation.id, { by: ANA }),
    tryApprove(fixture.engine, confirmation.id, { by: BOB, version }),
  ]);
  expect(decided).toMatchObject({ ok: true, confirmation: { status: "approved" } });
});

test("nothing is noted of a closed question, of one that is not there, or of an agent", async () => {
  const { engine, ...fixture } = await openEngineFixture();
  const { confirmation } = await fixture.ask(PAYMENT);
  const { id } = confirmation;
  const agent = { id: "robot", kind: "agent" } as const;
  expect((await engine.decisions.noteSighting(id, { by: agent }))?.confirmation.seen).toBeUndefined();
  await tryApprove(engine, id, { by: BOB });
  expect((await engine.decisions.noteSighting(id, { by: ANA }))?.confirmation.seen).toBeUndefined();
  expect(await engine.decisions.noteSighting("adk-none", { by: ANA })).toBeUndefined();
});

test("a question stays small, however many open it", async () => {
  const { engine, ...fixture } = await openEngineFixture();
  const { confirmation } = await fixture.ask(PAYMENT);
  for (let number = 0; number < 60; number += 1)
    await engine.decisions.noteSighting(confirmation.id, { by: person(`reader-${number}`) });
  expect((await engine.confirmation(confirmation.id)).seen).toHaveLength(50);
});
