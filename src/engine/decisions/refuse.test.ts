import { expect, test } from "vitest";
import { BOB, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";

test("a refusal before the rule is asked is journalled, and changes nothing else", async () => {
  const fixture = await openEngineFixture();
  const { confirmation, call } = await fixture.ask({ tool: "pay" });
  const before = {
    confirmation: await fixture.confirmation(confirmation.id),
    call: await fixture.call(call.id),
  };
  const tried = { code: "forbidden", what: "decide" } as const;
  for (const target of [{ confirmation: confirmation.id }, { call: call.id }]) {
    expect(await fixture.engine.decisions.noteRefusal(target, tried, { by: BOB, via: "api" })).toBe(true);
    expect((await fixture.journal()).at(-1)).toEqual({
      kind: "decision-refused",
      body: {
        call: call.id,
        tool: "pay",
        ...tried,
        by: { id: "bob", kind: "oidc", authenticated: true },
        via: "api",
      },
    });
  }
  expect(await fixture.confirmation(confirmation.id)).toEqual(before.confirmation);
  expect(await fixture.call(call.id)).toEqual(before.call);
  expect(await fixture.engine.verify()).toMatchObject({ ok: true });
});

test("there is no record of what is not there", async () => {
  const fixture = await openEngineFixture();
  const tried = { code: "forbidden", what: "decide" } as const;
  expect(await fixture.engine.decisions.noteRefusal({ confirmation: "adk-none" }, tried, { by: BOB })).toBe(
    false,
  );
  expect(await fixture.journal()).toEqual([]);
});

test("refusals in a channel are journalled ten times for each person and question, the first among them", async () => {
  const fixture = await openEngineFixture();
  const [one, two] = [await fixture.ask({ tool: "pay" }), await fixture.ask({ tool: "wire" })];
  const { decisions } = fixture.engine;
  const tried = { code: "not-an-approver", what: "decide" } as const;
  const refuse = async (id: string, person: string): Promise<void> => {
    const by = { ...BOB, id: person, kind: "channel" } as const;
    const decided = await decisions.decide({ id, confirmed: true }, { by, via: "slack" });
    expect(decided).toMatchObject({ ok: false, code: "not-an-approver" });
    expect(await decisions.noteRefusal({ confirmation: id }, tried, { by, via: "slack" })).toBe(true);
  };
  const refused = async (): Promise<readonly string[]> =>
    (await fixture.journal())
      .filter(({ kind }) => kind === "decision-refused")
      .map((it) => JSON.stringify(it));
  await refuse(one.confirmation.id, "eve");
  const [first] = await refused();
  for (let times = 0; times < 12; times += 1)
    for (const person of ["eve", "mallory"]) await refuse(one.confirmation.id, person);
  expect(await refused()).toHaveLength(20);
  expect((await refused())[0]).toBe(first);
  await refuse(two.confirmation.id, "eve");
  expect(await refused()).toHaveLength(22);
  // Other doors need a login, and have limits of their own.
  for (let times = 0; times < 12; times += 1)
    await decisions.decide({ id: one.confirmation.id, confirmed: true }, { by: BOB, via: "api" });
  expect(await refused()).toHaveLength(34);
  expect(await fixture.engine.verify()).toMatchObject({ ok: true });
});
