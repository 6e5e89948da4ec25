import { describe, expect, test } from "vitest";
import { z } from "zod";
import { call, play, resultsIn, useRunners, wordsIn } from "../../../test/seeds/scripted-runner.ts";
import type { AskOptions } from "../../engine.ts";
import { Agent, type Hooks, type JsonValue, LlmAgent, OutcomeUnknown, type Tool, tool } from "../../index.ts";

const makeRunner = useRunners();
const ana = { user: "ana" } as const;
const byAna = { by: { id: "ana" } } as const;

function act(log: string[] = [], options: { readonly gated?: boolean } = {}): Tool {
  return tool({
    name: "act",
    description: "",
    requireConfirmation: options.gated ?? false,
    execute: () => {
      log.push("run");
      return { did: true };
    },
  });
}

function logging(log: string[], who: string): Hooks {
  return {
    beforeAgent: () => void log.push(`${who} beforeAgent`),
    afterAgent: () => void log.push(`${who} afterAgent`),
    beforeModel: () => void log.push(`${who} beforeModel`),
    afterModel: () => void log.push(`${who} afterModel`),
    beforeTool: () => void log.push(`${who} beforeTool`),
    afterTool: () => void log.push(`${who} afterTool`),
  };
}

function both(name: string): readonly string[] {
  return [`runner ${name}`, `agent ${name}`];
}

function fails(): never {
  throw new Error("broken hook");
}

test("hooks surround each thing in its order, the Runner's before the agent's; none is fired again by a resume", async () => {
  const log: string[] = [];
  const agent = new Agent({
    name: "a",
    model: play([call("act")], "Done."),
    tools: [act(log, { gated: true })],
    ...logging(log, "agent"),
  });
  const runner = makeRunner({ agent, ...logging(log, "runner") });
  const turn = await runner.send("go", ana);
  await (await runner.approve(String(turn.pending[0]?.id), byAna)).finished;
  expect(log).toEqual([
    ...both("beforeAgent"),
    ...both("beforeModel"),
    ...both("afterModel"),
    ...both("beforeTool"),
    "run",
    ...both("afterTool"),
    ...both("beforeModel"),
    ...both("afterModel"),
    ...both("afterAgent"),
  ]);
});

describe("a value from a hook takes the place of what would have happened", () => {
  test("beforeAgent: the agent's answer, and no model is asked", async () => {
    const model = play();
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model,
        beforeAgent: () => ({ role: "model", parts: [{ text: "We are closed." }] }),
      }),
    });
    expect(await runner.send("hi", ana)).toMatchObject({ status: "completed", text: "We are closed." });
    expect(model.requests).toEqual([]);
  });

  test("afterAgent: the agent's last words", async () => {
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play("The pin is 1234."),
        afterAgent: () => ({ parts: [{ text: "[redacted]" }] }),
      }),
    });
    expect(await runner.send("hi", ana)).toMatchObject({ text: "[redacted]" });
  });

  test("beforeModel: the model's answer", async () => {
    const model = play();
    const runner = makeRunner({
      agent: new Agent({ name: "a", model, beforeModel: () => ({ parts: [{ text: "From the cache." }] }) }),
    });
    expect(await runner.send("hi", ana)).toMatchObject({ text: "From the cache." });
    expect(model.requests).toEqual([]);
  });

  test("afterModel: what the model said, calls included", async () => {
    const log: string[] = [];
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model: play([call("act")]),
        tools: [act(log)],
        afterModel: () => ({ parts: [{ text: "I would rather not." }] }),
      }),
    });
    expect(await runner.send("hi", ana)).toMatchObject({ text: "I would rather not." });
    expect(log).toEqual([]);
  });

  test.each<[string, JsonValue]>([
    ["an object", { cached: true }],
    ["a text", "cached"],
    ["null", null],
  ])("beforeTool: the answer, and nothing further is asked or run (%s)", async (_, value) => {
    const log: string[] = [];
    const model = play([call("act")], "Done.");
    const agent = new Agent({
      name: "a",
      model,
      tools: [act(log, { gated: true })],
      beforeTool: () => value,
    });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ status: "completed" });
    expect(log).toEqual([]);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      typeof value === "object" && value !== null ? value : { result: value },
    ]);
  });

  test("afterTool: the result", async () => {
    const model = play([call("act")], "Done.");
    await makeRunner({
      agent: new Agent({
        name: "a",
        model,
        tools: [act()],
        afterTool: ({ result }: { readonly result: JsonValue }) => ({ wrapped: result }),
      }),
    }).send("go", ana);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([{ wrapped: { did: true } }]);
  });

  test("onToolError: the result of a tool that failed", async () => {
    const model = play([call("act")], "Done.");
    const failing = tool({
      name: "act",
      description: "",
      execute: () => {
        throw new Error("no network");
      },
    });
    await makeRunner({
      agent: new Agent({
        name: "a",
        model,
        tools: [failing],
        onToolError: ({ error }: { readonly error: unknown }) => ({ sorry: String(error) }),
      }),
    }).send("go", ana);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([{ sorry: "Error: no network" }]);
  });
});

describe("a hook that fails", () => {
  test("before a tool has permitted nothing: the call does not run and the model is told", async () => {
    const log: string[] = [];
    const model = play([call("act")], "Sorry.");
    const runner = makeRunner({
      agent: new Agent({ name: "a", model, tools: [act(log)], beforeTool: fails }),
    });
    expect(await runner.send("go", ana)).toMatchObject({ text: "Sorry." });
    expect(log).toEqual([]);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { error: "a beforeTool hook failed: broken hook" },
    ]);
  });

  test.each(["beforeAgent", "beforeModel", "afterModel", "afterAgent"] as const)(
    "at %s ends the run, which says so",
    async (name) => {
      const runner = makeRunner({ agent: new Agent({ name: "a", model: play("Hi."), [name]: fails }) });
      expect(await runner.send("go", ana)).toMatchObject({
        status: "failed",
        error: { message: "broken hook" },
      });
    },
  );

  test("at a later step of the same run ends it as well", async () => {
    let steps = 0;
    const model = play([call("nothing")], "Never said.");
    const afterAgent = (): void => {
      steps += 1;
      fails();
    };
    const runner = makeRunner({ agent: new Agent({ name: "a", model, afterAgent }) });
    expect(await runner.send("go", ana)).toMatchObject({ status: "failed", error: { code: "internal" } });
    expect(steps).toBe(1);
  });

  test("and a tool that does not know its outcome is not handled by onToolError", async () => {
    const lost = tool({
      name: "act",
      description: "",
      requireConfirmation: true,
      execute: () => {
        throw new OutcomeUnknown("the line went dead");
      },
    });
    const agent = new Agent({
      name: "a",
      model: play([call("act")]),
      tools: [lost],
      onToolError: () => ({ fine: true }),
    });
    const runner = makeRunner({ agent });
    const turn = await runner.send("go", ana);
    const id = String(turn.pending[0]?.id);
    await (await runner.approve(id, byAna)).finished;
    const { items } = await (await runner.engine()).ledger.unknownCalls();
    expect(items.map(({ status }) => status)).toEqual(["unknown"]);
  });
});

describe("a beforeTool hook that requests confirmation: the approval callback", () => {
  const TOOLS_REQUIRING_APPROVAL = new Set(["act"]);

  /** `make_approval_callback()` of kagent, branch by branch. */
  const approval: NonNullable<Hooks["beforeTool"]> = ({ tool: { name }, ctx }) => {
    if (!TOOLS_REQUIRING_APPROVAL.has(name)) return undefined;
    if (ctx.toolConfirmation === undefined) {
      ctx.requestConfirmation({ hint: `Tool '${name}' requires approval.` });
      return { status: "confirmation_requested" };
    }
    if (ctx.toolConfirmation.confirmed) return undefined;
    return { status: "rejected", message: "Tool call was rejected by user." };
  };

  function scene(hooks: Hooks = {}) {
    const log: string[] = [];
    const model = play([call("act")], "Done.");
    const agent = new Agent({ name: "a", model, tools: [act(log)], ...hooks });
    return { log, model, runner: makeRunner({ agent, beforeTool: approval }) };
  }

  test("pauses; its stub is not an answer; approved, the tool runs", async () => {
    const { runner, model, log } = scene();
    const turn = await runner.send("go", ana);
    expect(turn.pending).toMatchObject([
      { hint: "Tool 'act' requires approval.", why: ["a hook asks for confirmation"] },
    ]);
    await (await runner.approve(String(turn.pending[0]?.id), byAna)).finished;
    expect(log).toEqual(["run"]);
    expect(JSON.stringify(model.requests)).not.toContain("confirmation_requested");
  });

  test("rejected, the tool does not run and the model is told", async () => {
    const { runner, model, log } = scene();
    const turn = await runner.send("go", ana);
    await (await runner.deny(String(turn.pending[0]?.id), byAna)).finished;
    expect(log).toEqual([]);
    expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([
      { error: "tool call was rejected by the user" },
    ]);
  });

  test("does not keep the agent's own hook from refusing the call", async () => {
    const { runner, log } = scene({ beforeTool: () => ({ error: "on the blocklist" }) });
    expect(await runner.send("go", ana)).toMatchObject({ status: "completed", pending: [] });
    expect(log).toEqual([]);
  });

  test("that asks with a schema which is not JSON Schema has failed, and the tool does not run", async () => {
    const log: string[] = [];
    const model = play([call("act")], "Done.");
    const schema = z.object({ why: z.string() }) as object;
    const agent = new Agent({
      name: "a",
      model,
      tools: [act(log)],
      beforeTool: ({ ctx }) => ctx.requestConfirmation({ schema } as AskOptions),
    });
    const turn = await makeRunner({ agent }).send("go", ana);
    expect(turn.pending).toEqual([]);
    expect(resultsIn(model.requests[1]!)).toMatchObject([
      { error: expect.stringContaining("JSON Schema") as string },
    ]);
    expect(log).toEqual([]);
  });

  test("that catches what was wrong with its question has asked all the same", async () => {
    const log: string[] = [];
    const agent = new Agent({
      name: "a",
      model: play([call("act")], "Done."),
      tools: [act(log)],
      beforeTool: ({ ctx }) => {
        try {
          ctx.requestConfirmation({ hint: 5 } as unknown as AskOptions);
        } catch {}
      },
    });
    expect(await makeRunner({ agent }).send("go", ana)).toMatchObject({ status: "paused" });
    expect(log).toEqual([]);
  });

  test("that asks does not take the form from a tool that has one: the payload is the tool's", async () => {
    const confirmationPayload = z.object({ days: z.number() });
    const leave = tool({ name: "act", description: "", confirmationPayload, execute: () => "ok" });
    const agent = new Agent({
      name: "a",
      model: play([call("act")], "Done."),
      tools: [leave],
      beforeTool: ({ ctx }) => ctx.requestConfirmation({ hint: "Why?", schema: { type: "string" } }),
    });
    const turn = await makeRunner({ agent }).send("go", ana);
    expect(turn.pending[0]).toMatchObject({ hint: "Why?", schema: { required: ["days"] } });
  });

  test("may ask for an answer of a shape", async () => {
    const schema = { type: "object", properties: { why: { type: "string" } }, required: ["why"] };
    const log: string[] = [];
    const agent = new Agent({
      name: "a",
      model: play([call("act")], "Done."),
      tools: [act(log)],
      beforeTool: ({ ctx }) => ctx.requestConfirmation({ hint: "Why?", schema }),
    });
    const runner = makeRunner({ agent });
    const id = String((await runner.send("go", ana)).pending[0]?.id);
    await expect(runner.approve(id, byAna)).rejects.toMatchObject({ code: "payload-mismatch" });
    await (await runner.approve(id, { ...byAna, payload: { why: "because" } })).finished;
    expect(log).toEqual(["run"]);
  });
});

test("the ADK's callback names mean the same", async () => {
  const log: string[] = [];
  const model = play([call("act")], "Done.");
  const agent = new LlmAgent({
    name: "a",
    model,
    tools: [act(log)],
    beforeAgentCallback: ({ agentName }) => void log.push(`beforeAgent ${agentName}`),
    afterAgentCallback: ({ userId }) => void log.push(`afterAgent ${userId}`),
    beforeModelCallback: ({ request }) => void log.push(`beforeModel ${wordsIn(request).length}`),
    afterModelCallback: ({ response }) => void log.push(`afterModel ${response.parts.length}`),
    beforeToolCallback: ({ tool: { name }, context }) =>
      void log.push(`beforeTool ${name} ${context.userId}`),
    afterToolCallback: ({ response }) => {
      log.push(`afterTool ${JSON.stringify(response)}`);
      return { changed: true };
    },
  });
  await makeRunner({ agent }).send("go", ana);
  expect(log).toEqual([
    "beforeAgent a",
    "beforeModel 1",
    "afterModel 1",
    "beforeTool act ana",
    "run",
    'afterTool {"did":true}',
    "beforeModel 1",
    "afterModel 1",
    "afterAgent ana",
  ]);
  expect(model.requests.slice(1).flatMap(resultsIn)).toEqual([{ changed: true }]);
});
