import { expect, test } from "vitest";
import { openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import { tryApprove } from "../testing/try-decide.ts";

test("a delegate fills in for whoever a question escalates to, also one that the requester confirms", async () => {
  const fixture = await openEngineFixture();
  const { engine, clock } = fixture;
  await engine.delegate({ to: "leo", until: clock.now() + 1_000 }, { by: person("ana") });
  const question = {
    requirements: [{ from: "requester", count: 1 }],
    requesters: ["rita"],
    escalate: [{ afterMs: 1, to: { users: ["ana"] }, fills: [0] }],
  } as const;
  const { id } = (await fixture.ask({ tool: "pay", args: { amount: 5 }, question })).confirmation;
  const vote = () => tryApprove(engine, id, { by: person("leo") });
  expect(await vote()).toMatchObject({ code: "not-an-approver" });
  await clock.advance(1);
  expect(await vote()).toMatchObject({ ok: true });
  expect((await fixture.confirmation(id)).votes).toMatchObject([{ delegated: { from: "ana" } }]);
});
