import { describe, expect, test } from "vitest";
import { z } from "zod";
import { call, play, resultsIn, type StrictModel, useRunners } from "../../../test/seeds/scripted-runner.ts";
import {
  Agent,
  ConfirmationRejected,
  type Runner,
  type Tool,
  type ToolContext,
  type Toolset,
  type Turn,
  tool,
  toolset,
  withConfirmation,
} from "../../index.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

function sceneWith(
  tools: readonly (Tool | Toolset)[],
  model: StrictModel = play([call("act")], "Done."),
): Runner {
  return makeRunner({ agent: new Agent({ name: "a", model, tools }) });
}

function resultOf({ requests }: StrictModel): unknown {
  return requests.slice(1).flatMap(resultsIn)[0];
}

/** Approves whatever is open until nothing is, in the order in which it was asked. */
async function approveAll(
  runner: Runner,
  first: Turn,
): Promise<{ readonly turn: Turn; readonly hints: string[] }> {
  const hints: string[] = [];
  for (let turn = first; ; ) {
    const [open] = turn.pending;
    if (open === undefined) return { turn, hints };
    hints.push(open.hint);
    turn = await (await runner.approve(open.id, byAna)).finished;
  }
}

describe("a tool's context", () => {
  test("says who, where and which call, with a key that is the same for every attempt", async () => {
    const seen: Partial<ToolContext>[] = [];
    const act = tool({
      name: "act",
      description: "",
      execute: async (_args, ctx) => {
        const { agentName, userId, sessionId, invocationId, functionCallId, idempotencyKey, attempt } = ctx;
        seen.push({ agentName, userId, sessionId, invocationId, functionCallId, idempotencyKey, attempt });
        await ctx.confirm("sure");
      },
    });
    const runner = sceneWith([act], play([call("act", {}, "c7")], "Done."));
    const turn = await runner.send("go", { ...ana, session: "s1" });
    await approveAll(runner, turn);
    expect(seen[0]).toEqual({
      agentName: "a",
      userId: "ana",
      sessionId: "s1",
      invocationId: turn.invocation,
      functionCallId: "c7",
      idempotencyKey: expect.stringMatching(/\.c7$/) as string,
      attempt: 1,
    });
    expect(seen[1]).toEqual({ ...seen[0], attempt: 2 });
  });

  test("tells how far the tool has come into the stream, where it happens", async () => {
    const act = tool({
      name: "act",
      description: "",
      execute: (_args, ctx) => {
        ctx.progress({ percent: 10 });
        ctx.progress({ percent: 90 });
        return "done";
      },
    });
    const runner = sceneWith([act], play([call("act", {}, "c1")], "Done."));
    const types: unknown[] = [];
    for await (const event of runner.stream({
      userId: "ana",
      sessionId: "s",
      message: "go",
      streaming: false,
    })) {
      types.push(event.type === "tool-progress" ? event.update : event.type);
    }
    expect(types).toEqual([
      "tool-call",
      { percent: 10 },
      { percent: 90 },
      "tool-result",
      "content-delta",
      "complete",
    ]);
  });

  test("whatever a tool returns is kept as far as it is JSON", async () => {
    const model = play([call("act")], "Done.");
    await sceneWith([tool({ name: "act", description: "", execute: () => undefined })], model).send(
      "go",
      ana,
    );
    expect(resultOf(model)).toEqual({ result: null });
  });

  test("an error is the model's answer", async () => {
    const model = play([call("act")], "Sorry.");
    const act = tool({
      name: "act",
      description: "",
      execute: () => {
        throw new Error("the printer is on fire");
      },
    });
    expect(await sceneWith([act], model).send("go", ana)).toMatchObject({
      status: "completed",
      text: "Sorry.",
    });
    expect(resultOf(model)).toEqual({ error: "the printer is on fire" });
  });
});

describe("a tool may ask by itself, the ADK's way", () => {
  test("what it returns when it asks is discarded, and it is invoked again with the decision", async () => {
    const afterTool: unknown[] = [];
    const entered: unknown[] = [];
    const act = tool({
      name: "act",
      description: "",
      execute: (_args, ctx) => {
        entered.push(ctx.toolConfirmation);
        if (ctx.toolConfirmation === undefined) {
          ctx.state.set("left", "behind");
          ctx.requestConfirmation({ hint: "Really?", payload: { days: 0 } });
          return "a stub";
        }
        return { got: ctx.toolConfirmation.payload as null };
      },
    });
    const model = play([call("act")], "Done.");
    const agent = new Agent({
      name: "a",
      model,
      tools: [act],
      afterTool: ({ result }) => void afterTool.push(result),
    });
    const runner = makeRunner({ agent });
    const turn = await runner.send("go", ana);
    expect(afterTool).toEqual([]);
    await (await runner.approve(String(turn.pending[0]?.id), { ...byAna, payload: { days: 3 } })).finished;
    expect(entered).toEqual([undefined, { hint: "Really?", confirmed: true, payload: { days: 3 } }]);
    expect(afterTool).toEqual([{ got: { days: 3 } }]);
    expect(resultOf(model)).toEqual({ got: { days: 3 } });
    const session = await runner.sessionService.getSession({ userId: "ana", sessionId: turn.session });
    expect(session?.state).toEqual({});
  });

  test("approved without a payload, it gets the example that it gave", async () => {
    const got: unknown[] = [];
    const act = tool({
      name: "act",
      description: "",
      execute: (_args, ctx) => {
        if (ctx.toolConfirmation === undefined) return ctx.requestConfirmation({ payload: { days: 2 } });
        got.push(ctx.toolConfirmation.payload);
      },
    });
    const runner = sceneWith([act]);
    await approveAll(runner, await runner.send("go", ana));
    expect(got).toEqual([{ days: 2 }]);
  });

  test("a denial is central: the body is not entered, and the model is told the reason", async () => {
    let entered = 0;
    const model = play([call("act")], "Sorry.");
    const act = tool({
      name: "act",
      description: "",
      execute: (_args, ctx) => {
        entered += 1;
        ctx.requestConfirmation();
      },
    });
    const runner = sceneWith([act], model);
    const turn = await runner.send("go", ana);
    await (await runner.deny(String(turn.pending[0]?.id), { ...byAna, reason: "not today" })).finished;
    expect(entered).toBe(1);
    expect(resultOf(model)).toEqual({ error: "tool call was rejected by the user", reason: "not today" });
  });

  test('with onDenied: "invoke" it is entered once more, to word its answer and nothing else', async () => {
    const model = play([call("act")], "Sorry.");
    const act = tool({
      name: "act",
      description: "",
      onDenied: "invoke",
      execute: (_args, ctx) => {
        const decision = ctx.toolConfirmation;
        if (decision === undefined) return ctx.requestConfirmation({ payload: { days: 1 } });
        return { confirmed: decision.confirmed, payload: decision.payload ?? null };
      },
    });
    const runner = sceneWith([act], model);
    const turn = await runner.send("go", ana);
    const { confirmation, finished } = await runner.deny(String(turn.pending[0]?.id), byAna);
    await finished;
    expect(resultOf(model)).toEqual({ confirmed: false, payload: null });
    expect(confirmation.status).toBe("denied");
  });
});

describe("a tool may ask by itself, and wait", () => {
  test("ctx.confirm resolves only on approval, with the payload", async () => {
    const model = play([call("act")], "Done.");
    const act = tool({
      name: "act",
      description: "",
      execute: async (_args, ctx) => {
        const schema = { type: "object", properties: { days: { type: "number" } }, required: ["days"] };
        const { payload } = await ctx.confirm("manager", { hint: "How many?", schema });
        return { payload: payload as null };
      },
    });
    const runner = sceneWith([act], model);
    const turn = await runner.send("go", ana);
    const id = String(turn.pending[0]?.id);
    await expect(runner.approve(id, { ...byAna, payload: { days: "three" } })).rejects.toMatchObject({
      code: "payload-mismatch",
      details: { field: "days" },
    });
    await (await runner.approve(id, { ...byAna, payload: { days: 3 } })).finished;
    expect(resultOf(model)).toEqual({ payload: { days: 3 } });
  });

  test("it may ask several questions, and remembers its work in steps", async () => {
    const log: string[] = [];
    const act = tool({
      name: "act",
      description: "",
      execute: async (_args, ctx) => {
        await ctx.step("reserve", () => void log.push("reserve"));
        await ctx.confirm("manager", { hint: "As the manager?" });
        await ctx.step("charge", () => void log.push("charge"));
        await ctx.confirm("auditor", { hint: "As the auditor?" });
        log.push("ship");
        return "shipped";
      },
    });
    const model = play([call("act")], "Done.");
    const runner = sceneWith([act], model);
    const { hints, turn } = await approveAll(runner, await runner.send("go", ana));
    expect(hints).toEqual(["As the manager?", "As the auditor?"]);
    expect(log).toEqual(["reserve", "charge", "ship"]);
    expect(turn.text).toBe("Done.");
    expect(resultOf(model)).toEqual({ result: "shipped" });
  });

  test("a catch does not swallow the suspension, and ctx.signal says why", async () => {
    const log: unknown[] = [];
    const act = tool({
      name: "act",
      description: "",
      execute: async (_args, ctx) => {
        ctx.signal.addEventListener("abort", () => log.push(ctx.signal.reason));
        try {
          await ctx.confirm("sure");
          log.push("approved");
        } catch {
          log.push("caught");
        }
      },
    });
    const runner = sceneWith([act]);
    const turn = await runner.send("go", ana);
    expect(log).toEqual(["suspended"]);
    await approveAll(runner, turn);
    expect(log).toEqual(["suspended", "approved"]);
  });

  test("where it says so, a denial reaches it as ConfirmationRejected, with status and reason", async () => {
    const model = play([call("act")], "Sorry.");
    const act = tool({
      name: "act",
      description: "",
      onDenied: "invoke",
      execute: async (_args, ctx) => {
        try {
          await ctx.confirm("sure");
        } catch (error) {
          if (!(error instanceof ConfirmationRejected)) throw error;
          return { worded: `${error.status}: ${error.reason ?? ""}` };
        }
      },
    });
    const runner = sceneWith([act], model);
    const turn = await runner.send("go", ana);
    await (await runner.deny(String(turn.pending[0]?.id), { ...byAna, reason: "no budget" })).finished;
    expect(resultOf(model)).toEqual({ worded: "denied: no budget" });
  });

  test("behind a gate of its own, it knows that decision also after its question", async () => {
    const seen: unknown[] = [];
    const act = tool({
      name: "act",
      description: "",
      requireConfirmation: true,
      confirmationPayload: z.object({ budget: z.number() }),
      execute: async (_args, ctx) => {
        seen.push(ctx.toolConfirmation?.payload?.budget);
        await ctx.confirm("sure");
        return "done";
      },
    });
    const runner = sceneWith([act]);
    const asked = await runner.send("go", ana);
    const first = await runner.approve(String(asked.pending[0]?.id), { ...byAna, payload: { budget: 7 } });
    await approveAll(runner, await first.finished);
    expect(seen).toEqual([7, 7]);
  });

  test("the gate's payload comes as its schema reads it, also after a question; those of its own questions as they were sent", async () => {
    const seen: unknown[] = [];
    const act = tool({
      name: "act",
      description: "",
      requireConfirmation: true,
      confirmationPayload: z.object({ until: z.string().transform((day) => new Date(day)) }),
      execute: async (_args, ctx) => {
        const payload: unknown = ctx.toolConfirmation?.payload;
        seen.push(payload);
        await ctx.confirm("sure", { schema: { type: "string" } });
        if (typeof payload !== "number") return ctx.requestConfirmation({ schema: { type: "number" } });
        await ctx.confirm("really");
        return "done";
      },
    });
    const runner = sceneWith([act]);
    let turn = await runner.send("go", ana);
    for (const payload of [{ until: "2026-01-02" }, "yes", 7, undefined]) {
      const decision = { ...byAna, ...(payload === undefined ? {} : { payload }) };
      turn = await (await runner.approve(String(turn.pending[0]?.id), decision)).finished;
    }
    const read = { until: new Date("2026-01-02") };
    expect(seen).toEqual([read, read, 7, 7]);
  });
});

describe("a typed answer", () => {
  const act = tool({
    name: "act",
    description: "",
    requireConfirmation: true,
    confirmationPayload: z.object({ approvedDays: z.number().max(10).refine(Number.isInteger) }),
    execute: (_args, ctx) => ({ days: ctx.toolConfirmation?.payload?.approvedDays ?? 0 }),
  });

  test.each([
    ["missing", undefined, "approvedDays"],
    ["of another type", { approvedDays: "3" }, "approvedDays"],
    ["out of bounds", { approvedDays: 11 }, "approvedDays"],
    ["not an object", 5, ""],
    ["refused by a check in code", { approvedDays: 9.5 }, "approvedDays"],
  ] as const)(
    "that is %s is refused with the field named, and the question stays open",
    async (_, payload, field) => {
      const runner = sceneWith([act]);
      const turn = await runner.send("go", ana);
      const decision = { ...byAna, ...(payload === undefined ? {} : { payload }) };
      await expect(runner.approve(String(turn.pending[0]?.id), decision)).rejects.toMatchObject({
        code: "payload-mismatch",
        details: { field },
      });
      expect(await runner.pending()).toHaveLength(1);
    },
  );

  test("that fits reaches the tool, and its schema is on the card", async () => {
    const model = play([call("act")], "Done.");
    const runner = sceneWith([act], model);
    const turn = await runner.send("go", ana);
    expect(turn.pending[0]?.schema).toMatchObject({ required: ["approvedDays"] });
    await (await runner.approve(String(turn.pending[0]?.id), { ...byAna, payload: { approvedDays: 4 } }))
      .finished;
    expect(resultOf(model)).toEqual({ days: 4 });
  });

  test("a denial needs none", async () => {
    const runner = sceneWith([act]);
    const turn = await runner.send("go", ana);
    await (await runner.deny(String(turn.pending[0]?.id), byAna)).finished;
    expect(await runner.pending()).toEqual([]);
  });
});

describe("a tool's credentials", () => {
  const asked: string[] = [];
  const act = tool({
    name: "act",
    description: "",
    parameters: z.object({ account: z.string() }),
    requireConfirmation: true,
    credentials: ({ account }, { userId }) => {
      asked.push(`${account} for ${userId}`);
      if (account === "closed") throw new Error("no token for a closed account");
      return { token: `token-${account}` };
    },
    execute: (_args, { credentials }) => ({ acted: credentials.token.length }),
  });

  test("are fetched once a person has let the call through, and never before", async () => {
    asked.length = 0;
    const model = play([call("act", { account: "main" })], "Done.");
    const runner = sceneWith([withConfirmation(toolset("bank", [act]))], model);
    const turn = await runner.send("go", ana);
    expect(asked).toEqual([]);
    await approveAll(runner, turn);
    expect(asked).toEqual(["main for ana"]);
    expect(resultOf(model)).toEqual({ acted: 10 });
    const { ledger } = await runner.engine();
    const [written] = await ledger.events((await ledger.sessions({ app: "a" })).items[0]?.key ?? "", {
      last: 1,
    });
    expect(JSON.stringify(written)).not.toContain("token-main");
  });

  test("are not fetched for a call that was denied", async () => {
    asked.length = 0;
    const runner = sceneWith([act], play([call("act", { account: "main" })], "Done."));
    const turn = await runner.send("go", ana);
    await (await runner.deny(String(turn.pending[0]?.id), byAna)).finished;
    expect(asked).toEqual([]);
  });

  test("that cannot be had fail the call, whose body is not entered", async () => {
    const model = play([call("act", { account: "closed" })], "Done.");
    const runner = sceneWith([act], model);
    await approveAll(runner, await runner.send("go", ana));
    expect(resultOf(model)).toEqual({ error: "no token for a closed account" });
  });
});
