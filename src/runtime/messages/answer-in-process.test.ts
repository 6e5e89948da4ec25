import { describe, expect, test } from "vitest";
import { call, play, resultsIn, useRunners } from "../../../test/seeds/scripted-runner.ts";
import {
  Agent,
  type AgentOptions,
  type ConfirmationProvider,
  type RunnerOptions,
  type Tool,
  type ToolOptions,
  tool,
  toolset,
  withConfirmation,
} from "../../index.ts";
import { ManualClock } from "../../testing.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

function payTool(paid: unknown[], options: Partial<ToolOptions<object, unknown>> = {}): Tool {
  return tool({
    name: "pay",
    description: "",
    requireConfirmation: true,
    execute: (_args, ctx) => {
      paid.push(ctx.toolConfirmation?.payload);
      return { paid: true };
    },
    ...options,
  });
}

function scene(
  confirmationProvider: ConfirmationProvider,
  options: {
    readonly tool?: Partial<ToolOptions<object, unknown>>;
    readonly runner?: Partial<RunnerOptions>;
  } = {},
) {
  const paid: unknown[] = [];
  const model = play([call("pay")], "Done.");
  const agent = new Agent({ name: "a", model, tools: [payTool(paid, options.tool)], confirmationProvider });
  const runner = makeRunner({ ...options.runner, agent });
  return { runner, model, paid };
}

describe("a provider", () => {
  test("may answer with a payload", async () => {
    const { runner, paid } = scene(async () => ({ confirmed: true, payload: { days: 3 } }));
    expect(await runner.send("pay", ana)).toMatchObject({ status: "completed" });
    expect(paid).toEqual([{ days: 3 }]);
  });

  test("may deny with a ToolConfirmation", async () => {
    const { runner, model, paid } = scene(() => ({ confirmed: false }));
    await runner.send("pay", ana);
    expect(paid).toEqual([]);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { error: "tool call was rejected by the user" },
    ]);
  });

  test.each([["yes"], [1], [null], [{}], [{ confirmed: "true" }]])(
    "that answers %j has not decided: the call waits for people",
    async (answer) => {
      const { runner, paid } = scene(() => answer as never);
      expect(await runner.send("pay", ana)).toMatchObject({ status: "paused" });
      expect(paid).toEqual([]);
    },
  );

  test("that gives up after a while leaves the call to people, and whoever waits is told so", async () => {
    const called = Promise.withResolvers<void>();
    const giveUp = Promise.withResolvers<undefined>();
    const clock = new ManualClock();
    const provider: ConfirmationProvider = () => {
      called.resolve();
      return giveUp.promise;
    };
    const { runner } = scene(provider, { runner: { clock } });
    const turn = runner.send("pay", ana);
    await called.promise;
    // Everything else has come to rest by now; only the provider is still being asked.
    await clock.advance(0);
    giveUp.resolve(undefined);
    const paused = await turn;
    expect(paused.status).toBe("paused");
    const { finished } = await runner.approve(String(paused.pending[0]?.id), byAna);
    expect(await finished).toMatchObject({ status: "completed", text: "Done." });
  });

  test("that throws at once fails the call as one that rejects", async () => {
    const { runner, model, paid } = scene(() => {
      throw new Error("no terminal");
    });
    expect(await runner.send("pay", ana)).toMatchObject({ status: "completed" });
    expect(paid).toEqual([]);
    expect(model.requests.slice(1).flatMap(resultsIn)[0]?.["reason"]).toContain(
      "the confirmation provider failed: no terminal",
    );
  });

  test("whom the rule does not allow decides nothing: the call pauses for those whom it does", async () => {
    const { runner, paid } = scene(() => true, { tool: { approvers: { roles: ["finance"] } } });
    const turn = await runner.send("pay", ana);
    expect(turn.status).toBe("paused");
    expect(paid).toEqual([]);
    const { finished } = await runner.approve(String(turn.pending[0]?.id), {
      by: { id: "bo", roles: ["finance"] },
    });
    expect(await finished).toMatchObject({ status: "completed" });
  });

  test("is asked about gates of rules and hooks as well", async () => {
    const asked: string[] = [];
    const { runner } = scene(({ toolName }) => asked.push(toolName) > 0, {
      tool: { requireConfirmation: false },
      runner: { policy: () => ({ outcome: "confirm", reason: "r" }) },
    });
    expect(await runner.send("pay", ana)).toMatchObject({ status: "completed" });
    expect(asked).toEqual(["pay"]);
  });

  test("whose payload does not fit has not decided", async () => {
    const schema = { type: "object", properties: { days: { type: "number" } }, required: ["days"] };
    const { runner, paid } = scene(() => true, { tool: { confirmationPayload: schema } });
    expect(await runner.send("pay", ana)).toMatchObject({ status: "paused" });
    expect(paid).toEqual([]);
  });

  test("is asked each question of a tool that asks several", async () => {
    const hints: string[] = [];
    const { runner } = scene(({ hint }) => hints.push(hint) > 0, {
      tool: {
        requireConfirmation: false,
        execute: async (_args, ctx) => {
          await ctx.confirm("one", { hint: "First?" });
          await ctx.confirm("two", { hint: "Second?" });
          return "both";
        },
      },
    });
    expect(await runner.send("pay", ana)).toMatchObject({ status: "completed" });
    expect(hints).toEqual(["First?", "Second?"]);
  });
});

async function outcome(
  tools: AgentOptions["tools"],
  options: Partial<RunnerOptions> & { readonly hook?: boolean } = {},
): Promise<string> {
  const { hook, ...rest } = options;
  const agent = new Agent({
    name: "a",
    model: play([call("pay")], "Done."),
    tools: tools ?? [],
    withoutProvider: "run",
    ...(hook === true ? { beforeTool: ({ ctx }) => ctx.requestConfirmation() } : {}),
  });
  const runner = makeRunner({ ...rest, agent });
  return (await runner.send("pay", ana)).status;
}

describe('withoutProvider: "run"', () => {
  test("approves the tool's own flag and withConfirmation", async () => {
    const paid: unknown[] = [];
    expect(await outcome([payTool(paid)])).toBe("completed");
    const plain = payTool(paid, { requireConfirmation: false });
    expect(await outcome([withConfirmation(toolset("t", [plain]))])).toBe("completed");
    expect(paid).toHaveLength(2);
  });

  test.each(["manifest", "mcp"] as const)("never a gate of the %s", async (gate) => {
    const plain = payTool([], { requireConfirmation: false });
    expect(await outcome([withConfirmation(toolset("t", [plain]), { gate })])).toBe("paused");
  });

  test("never a rule's, nor a hook's", async () => {
    expect(await outcome([payTool([])], { policy: () => ({ outcome: "confirm", reason: "r" }) })).toBe(
      "paused",
    );
    expect(await outcome([payTool([])], { hook: true })).toBe("paused");
  });

  test("never what the rule of the tool reserves to others", async () => {
    expect(await outcome([payTool([], { approvers: { roles: ["finance"] } })])).toBe("paused");
  });
});
