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
