import { expect, test } from "vitest";
import { ANA, openEngineFixture } from "../../../test/attack/support/engine-fixture.ts";
import { until } from "../testing/execution.ts";
import { tryApprove } from "../testing/try-decide.ts";

test.each(["confirm", "requestConfirmation"] as const)(
  "a tool that asks (%s) after its run was stopped asks nobody, and does no more",
  async (how) => {
    const fixture = await openEngineFixture();
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    let paid = 0;
    fixture.app.define("pay", {
      run: async (_call, context) => {
        await stopped;
        if (how === "confirm") await context.confirm("really");
        else if (context.attempt === 1) context.requestConfirmation();
        paid += how === "confirm" ? 1 : context.attempt - 1;
        return null;
      },
    });
    const { confirmation, call } = await fixture.ask({ tool: "pay" });
    await tryApprove(fixture.engine, confirmation.id, { by: ANA });
    const { session } = call;
    await fixture.engine.cancelRun({ session, invocation: "inv-1", reason: "stopped" });
    resolve();
    await until(fixture.clock, async () => (await fixture.call(call.id)).status !== "executing");
    expect(await fixture.call(call.id)).toMatchObject({
      status: "failed",
      result: { error: expect.stringContaining("withdrawn") as string },
    });
    expect((await fixture.ledger.confirmations({ state: "open" })).items).toEqual([]);
    expect(paid).toBe(0);
    expect((await fixture.engine.verify()).faults).toEqual([]);
  },
);
