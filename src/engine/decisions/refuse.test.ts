import { expect, test } from "vitest";
import { BOB, openDesk } from "../../../test/attack/support/engine-fixture.ts";

test("a door that turns somebody away puts it on record, and changes nothing else", async () => {
  const desk = await openDesk();
  const { confirmation, call } = await desk.ask({ tool: "pay" });
  const before = { confirmation: await desk.confirmation(confirmation.id), call: await desk.call(call.id) };
  const tried = { code: "forbidden", what: "decide" } as const;
  for (const target of [{ confirmation: confirmation.id }, { call: call.id }]) {
    expect(await desk.engine.decisions.noteRefusal(target, tried, { by: BOB, via: "api" })).toBe(true);
    expect((await desk.journal()).at(-1)).toEqual({
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
  expect(await desk.confirmation(confirmation.id)).toEqual(before.confirmation);
  expect(await desk.call(call.id)).toEqual(before.call);
  expect(await desk.engine.verify()).toMatchObject({ ok: true });
});

test("there is no record of what is not there", async () => {
  const desk = await openDesk();
  const tried = { code: "forbidden", what: "decide" } as const;
  expect(await desk.engine.decisions.noteRefusal({ confirmation: "adk-none" }, tried, { by: BOB })).toBe(
    false,
  );
  expect(await desk.journal()).toEqual([]);
});
