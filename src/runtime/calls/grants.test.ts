import { describe, expect, test } from "vitest";
import { z } from "zod";
import { call, play, type StrictModel, useRunners } from "../../../test/seeds/scripted-runner.ts";
import { Agent, type AgentOptions, type Policy, type Tool, tool } from "../../index.ts";

const makeRunner = useRunners();
const first = { user: "ana", session: "s1" } as const;
const byAna = { by: { id: "ana" } } as const;

const mayGrant: Policy = () => ({
  outcome: "confirm",
  reason: "payments",
  grants: { scope: "user", forMs: 3_600_000, count: 2, sum: { amount: 20 } },
});

function payTool(paid: number[]): Tool {
  return tool({
    name: "pay",
    description: "Pays.",
    parameters: z.object({ amount: z.number() }),
    execute: async ({ amount }, ctx) => {
      if (amount === 7) await ctx.confirm("sure", { hint: "Really 7?" });
      paid.push(amount);
      return { paid: amount };
    },
  });
}

describe.each([
  ["session", first],
  ["user", { ...first, session: "s2" }],
] as const)("under a grant for the %s,", (scope, session) => {
  /** A first payment of 1 is approved with a grant. */
  async function granted(model: StrictModel, more: Partial<AgentOptions> = {}) {
    const paid: number[] = [];
    const agent = new Agent({ name: "a", model, tools: [payTool(paid)], ...more });
    const runner = makeRunner({ agent, policy: mayGrant });
    const [asked] = (await runner.send("pay", first)).pending;
    await (await runner.approve(asked?.id ?? "", { ...byAna, grant: { scope } })).finished;
    return { runner, paid };
  }

  test("calls of later turns run under the grant, two of one turn too, and then people are asked", async () => {
    const pay = call("pay", { amount: 5 });
    const { runner, paid } = await granted(play([call("pay", { amount: 1 })], "ok", [pay, pay, pay], "ok"));
    const turn = await runner.send("more", session);
    expect(paid).toEqual([1, 5, 5]);
    expect(turn).toMatchObject({ status: "paused", pending: [{ tool: "pay", args: { amount: 5 } }] });
  });

  test("a question from inside a tool is asked, also while the call runs under a grant", async () => {
    const { runner, paid } = await granted(
      play([call("pay", { amount: 1 })], "ok", [call("pay", { amount: 7 })], "ok"),
    );
    const turn = await runner.send("seven", session);
    expect(turn).toMatchObject({ status: "paused", pending: [{ hint: "Really 7?" }] });
    expect(turn.pending[0]).not.toHaveProperty("grants");
    expect(paid).toEqual([1]);
  });

  test("what a hook asks for cannot be granted, nor does a grant answer it", async () => {
    let asks = false;
    const { runner, paid } = await granted(
      play([call("pay", { amount: 1 })], "ok", [call("pay", { amount: 5 })], "ok"),
      { beforeTool: ({ ctx }) => (asks ? ctx.requestConfirmation() : undefined) },
    );
    asks = true;
    const turn = await runner.send("more", session);
    expect(turn).toMatchObject({ status: "paused", pending: [{ tool: "pay" }] });
    expect(turn.pending[0]).not.toHaveProperty("grants");
    expect(paid).toEqual([1]);
  });

  test("a grant does not answer a gate of the tool's author that did not ask when it was given", async () => {
    const paid: number[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays.",
      parameters: z.object({ amount: z.number() }),
      requireConfirmation: ({ amount }) => amount > 4,
      execute: ({ amount }) => ({ paid: paid.push(amount) }),
    });
    const { runner } = await granted(
      play(
        [call("pay", { amount: 1 })],
        "ok",
        [call("pay", { amount: 2 }), call("pay", { amount: 5 })],
        "ok",
      ),
      { tools: [pay] },
    );
    const turn = await runner.send("more", session);
    expect(turn).toMatchObject({ status: "paused", pending: [{ tool: "pay", args: { amount: 5 } }] });
    expect(paid).toEqual([1, 2]);
  });
});
