import { describe, expect, test } from "vitest";
import { BOB, openEngineFixture, person } from "../../../test/attack/support/engine-fixture.ts";
import { OutcomeUnknown } from "../calls/call-context.ts";
import type { PolicySource } from "../gate/index.ts";
import { tryApprove } from "../testing/try-decide.ts";
import type { Settlement } from "./settle.ts";

const HOUR = 3_600_000;

/** Ana and ana2 are one person. Finance has ana2, bob and carl, until a test says otherwise. */
async function openFinance() {
  const groups = { finance: { users: ["ana2", "bob", "carl"], notRequester: true } };
  const policy: PolicySource = {
    judge: () => undefined,
    version: "v1",
    text: "",
    group: () => groups.finance,
    person: (id) => (id === "ana2" ? "ana" : id),
  };
  const fixture = await openEngineFixture({ policy });
  const question = {
    requirements: [{ from: groups.finance, count: 1, group: "finance" }],
    requesters: ["ana"],
  };
  const ask = () => fixture.ask({ tool: "pay", args: { amount: 5 }, question });
  const loseTrack = async () => {
    fixture.app.define("pay", {
      run: async () => {
        throw new OutcomeUnknown("the line went dead");
      },
    });
    const { call, confirmation } = await ask();
    const approved = await tryApprove(fixture.engine, confirmation.id, { by: BOB });
    if (!approved.ok) throw new Error(approved.message);
    expect(await approved.finished).toMatchObject({ status: "unknown" });
    return call;
  };
  const leave = (who: string): void => {
    groups.finance = { ...groups.finance, users: groups.finance.users.filter((id) => id !== who) };
  };
  return { ...fixture, ask, loseTrack, leave };
}

describe("settling needs the right to vote for oneself", () => {
  test.each<Settlement>([{ as: "retry" }, { as: "succeeded", result: null }, { as: "failed", error: "no" }])(
    "$as: refused to the requester's other login, to who left the group, and to a delegate",
    async (settlement) => {
      const { engine, loseTrack, leave, clock, app, ...fixture } = await openFinance();
      const call = await loseTrack();
      await engine.delegate({ to: "leo", until: clock.now() + HOUR }, { by: BOB });
      leave("carl");
      for (const who of ["ana2", "carl", "leo"])
        expect(
          await engine.decisions.settle({ call: call.id }, settlement, { by: person(who) }),
          who,
        ).toMatchObject({ code: "not-an-approver" });
      expect(await fixture.call(call.id)).toMatchObject({ status: "unknown", attempt: 1 });
      expect(app.runs).toHaveLength(1);
      app.define("pay", {});
      expect(await engine.decisions.settle({ call: call.id }, settlement, { by: BOB })).toMatchObject({
        ok: true,
      });
    },
  );

  test("as the requester: whoever has their delegation settles nothing", async () => {
    const { engine, loseTrack, clock } = await openFinance();
    const call = await loseTrack();
    const settle = (who: string) =>
      engine.decisions.settle({ call: call.id }, { as: "failed", error: "no" }, { by: person(who) });
    await engine.delegate({ to: "carl", until: clock.now() + HOUR }, { by: person("ana") });
    expect(await settle("carl")).toMatchObject({ code: "not-an-approver" });
    expect(await settle("bob")).toMatchObject({ ok: true });
  });
});

test("withdrawing is refused to who left the group and to a delegate; the requester's other login may", async () => {
  const { engine, ask, leave, clock, ...fixture } = await openFinance();
  const { confirmation } = await ask();
  await engine.delegate({ to: "leo", until: clock.now() + HOUR }, { by: BOB });
  leave("carl");
  leave("ana2");
  const reason = "not now";
  for (const who of ["carl", "leo"]) {
    const by = person(who);
    expect(await engine.decisions.cancel(confirmation.id, { by, reason }), who).toMatchObject({
      code: "forbidden",
    });
    expect((await engine.confirmation(confirmation.id, { by })).can.cancel, who).toBe(false);
  }
  expect(await fixture.confirmation(confirmation.id)).toMatchObject({ status: "requested" });
  expect(await engine.decisions.cancel(confirmation.id, { by: person("ana2"), reason })).toMatchObject({
    ok: true,
  });
});
