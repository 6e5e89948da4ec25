import { describe, expect, test } from "vitest";
import {
  Agent,
  BaseTool,
  type Event,
  FunctionTool,
  type JsonObject,
  type Runner,
  type ToolConfirmation,
  type ToolContext,
  tool,
} from "../../src/index.ts";
import { decodeAnswers, REQUEST_CONFIRMATION_FUNCTION_NAME } from "../../src/protocol/index.ts";
import { answer, call, collect, play, type StrictModel, useRunners } from "./scripted-runner.ts";

const makeRunner = useRunners();
const MODEL = "scripted";

/** The seed's example: transfer_money, gated, with a hint of its own, on the wire that the seed speaks. */
function transferScene(options: { readonly model?: StrictModel } = {}): {
  readonly runner: Runner;
  readonly model: StrictModel;
  readonly transferred: number[];
  readonly decisions: (ToolConfirmation | undefined)[];
} {
  const transferred: number[] = [];
  const decisions: (ToolConfirmation | undefined)[] = [];
  const transfer = new FunctionTool({
    name: "transfer_money",
    description: "Transfer money between accounts",
    parameters: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
    requireConfirmation: true,
    confirmationHint: "Approve this transfer?",
    execute: (args: JsonObject, toolContext?: ToolContext) => {
      transferred.push(Number(args["amount"]));
      decisions.push(toolContext?.toolConfirmation);
      return { ok: true, transferred: Number(args["amount"]) };
    },
  });
  const model = options.model ?? play([call("transfer_money", { amount: 100 }, "call-1")], "Done.");
  const agent = new Agent({ name: "bank", model: MODEL, tools: [transfer] });
  const runner = makeRunner({ agent, models: () => model, wire: "adk-rs" });
  return { runner, model, transferred, decisions };
}

const said = { userId: "user", sessionId: "s1", message: "send $100" } as const;

describe("A tool marked require_confirmation never runs on the model's say-so alone", () => {
  test("instead of dispatching, the agent emits a synthetic adk_request_confirmation function response and pauses", async () => {
    const { runner, model, transferred } = transferScene();
    const events = await collect(runner.run(said));
    expect(transferred).toEqual([]);
    expect(model.requests).toHaveLength(1);
    const responses = events.flatMap(({ content }) => content?.parts.map((p) => p.functionResponse) ?? []);
    expect(responses.filter((part) => part !== undefined)).toMatchObject([
      { name: "adk_request_confirmation", id: "call-1" },
    ]);
  });

  test("only an explicit approval lets the original call execute, exactly once", async () => {
    const { runner, transferred } = transferScene();
    await collect(runner.run(said));
    await collect(runner.run({ ...said, message: answer("call-1", { confirmed: true }) }));
    await collect(runner.run({ ...said, message: answer("call-1", { confirmed: true }) }));
    expect(transferred).toEqual([100]);
  });
});

describe("1. Register the gate", () => {
  test("build the tool with require_confirmation(true): Default: `Approve execution of tool {name}?`", async () => {
    const wipe = tool({
      name: "wipe",
      description: "Wipes.",
      requireConfirmation: true,
      execute: () => "wiped",
    });
    const model = play([call("wipe")]);
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [wipe] }) });
    const turn = await runner.send("wipe it", { user: "ana" });
    expect(turn.pending.map(({ hint }) => hint)).toEqual(["Approve execution of tool wipe?"]);
  });

  test("(optionally with_confirmation_hint): Custom hint.", async () => {
    const { runner } = transferScene();
    const turn = await runner.send("send $100", { user: "ana" });
    expect(turn.pending.map(({ hint }) => hint)).toEqual(["Approve this transfer?"]);
  });

  test("or implement requires_confirmation yourself: it receives the call args, so you can confirm only destructive parameter combinations", async () => {
    const ran: JsonObject[] = [];
    class Remove extends BaseTool {
      constructor() {
        super({ name: "remove", description: "Removes a path." });
      }
      override requiresConfirmation(args: JsonObject): boolean {
        return args["recursive"] === true && args["path"] === "/";
      }
      override runAsync({ args }: { readonly args: JsonObject }): string {
        ran.push(args);
        return "removed";
      }
    }
    const harmless = { path: "/tmp/x", recursive: true };
    const destructive = { path: "/", recursive: true };
    const model = play([call("remove", harmless), call("remove", destructive)], "Half of it.");
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools: [new Remove()] }) });
    const turn = await runner.send("clean up", { user: "ana" });
    expect(ran).toEqual([harmless]);
    expect(turn.pending.map(({ args }) => args)).toEqual([destructive]);
  });

  test("Trait-level hook (default false)", async () => {
    class Look extends BaseTool {
      override runAsync(): string {
        return "seen";
      }
    }
    const model = play([call("look")], "Seen.");
    const tools = [new Look({ name: "look", description: "Looks." })];
    const runner = makeRunner({ agent: new Agent({ name: "a", model, tools }) });
    expect(await runner.send("look", { user: "ana" })).toMatchObject({ status: "completed", text: "Seen." });
  });
});

describe("2. The model calls the tool", () => {
  test("It emits a FunctionResponse with the same function-call id, will_continue, and a serialized ConfirmationRequest as the response value", async () => {
    const { runner } = transferScene();
    const pause = (await collect(runner.run(said))).at(-1);
    expect(pause?.content?.parts).toEqual([
      {
        functionResponse: {
          id: "call-1",
          name: REQUEST_CONFIRMATION_FUNCTION_NAME,
          willContinue: true,
          // "Wire shape", to the letter.
          response: {
            originalFunctionCall: { id: "call-1", name: "transfer_money", args: { amount: 100 } },
            toolConfirmation: { hint: "Approve this transfer?", confirmed: false },
          },
        },
      },
    ]);
  });

  test("The agent's dispatch pipeline (confirmation → auth → run): hooks first, and nothing of the tool before the decision", async () => {
    const order: string[] = [];
    const pay = tool({
      name: "pay",
      description: "Pays.",
      requireConfirmation: () => {
        order.push("confirmation");
        return true;
      },
      execute: () => {
        // Credentials are fetched where the call runs: after the decision, before the work.
        order.push("auth", "run");
        return "paid";
      },
    });
    const model = play([call("pay")], "Paid.");
    const runner = makeRunner({
      agent: new Agent({
        name: "a",
        model,
        tools: [pay],
        beforeTool: () => void order.push("beforeTool"),
        afterTool: () => void order.push("afterTool"),
      }),
    });
    const turn = await runner.send("pay", { user: "ana" });
    expect(order).toEqual(["beforeTool", "confirmation"]);
    const { finished } = await runner.approve(String(turn.pending[0]?.id), { by: { id: "ana" } });
    await finished;
    expect(order).toEqual(["beforeTool", "confirmation", "auth", "run", "afterTool"]);
  });
});

describe("3. The invocation pauses", () => {
  test("the event lists the call id in long_running_tool_ids and in actions.requested_tool_confirmations, and the agent stops issuing turns", async () => {
    const { runner, model } = transferScene();
    const pause = (await collect(runner.run(said))).at(-1);
    expect(pause?.longRunningToolIds).toEqual(["call-1"]);
    expect(pause?.actions.requestedToolConfirmations).toEqual({
      "call-1": { hint: "Approve this transfer?", confirmed: false },
    });
    expect(model.requests).toHaveLength(1);
  });

  test("on Google's wire the same pause is a FunctionCall with an id of its own", async () => {
    const { runner } = transferScene();
    const pause = (await collect(runner.run({ ...said, wire: "adk" }))).at(-1) as Event;
    const [request] = pause.content?.parts ?? [];
    expect(request?.functionCall).toMatchObject({
      name: REQUEST_CONFIRMATION_FUNCTION_NAME,
      args: {
        originalFunctionCall: { id: "call-1", name: "transfer_money", args: { amount: 100 } },
        toolConfirmation: { hint: "Approve this transfer?", confirmed: false },
      },
    });
    expect(request?.functionCall?.id).toMatch(/^adk-/);
    expect(pause.longRunningToolIds).toEqual([request?.functionCall?.id]);
    expect(Object.keys(pause.actions.requestedToolConfirmations ?? {})).toEqual(["call-1"]);
    expect(pause).toMatchObject({ author: "bank", content: { role: "user" } });
  });
});

describe("4. Show the hint, collect a decision", () => {
  test("Your UI presents ToolConfirmation.hint (and the originalFunctionCall args) to the human", async () => {
    const { runner } = transferScene();
    await collect(runner.run(said));
    expect(await runner.pending()).toMatchObject([
      {
        status: "requested",
        tool: "transfer_money",
        args: { amount: 100 },
        hint: "Approve this transfer?",
        callId: "call-1",
      },
    ]);
  });
});

describe("5. Resubmit the decision", () => {
  test("a FunctionResponse with the same id, name adk_request_confirmation, and a ToolConfirmation value (confirmed, optional payload)", async () => {
    const { runner, decisions } = transferScene();
    await collect(runner.run(said));
    const approval = { confirmed: true, payload: { note: "fine" } };
    await collect(runner.run({ ...said, message: answer("call-1", approval) }));
    expect(decisions).toEqual([
      { hint: "Approve this transfer?", confirmed: true, payload: { note: "fine" } },
    ]);
  });

  test.each<[string, JsonObject]>([
    ["a bare ToolConfirmation", { confirmed: true }],
    ['wrapped as {"toolConfirmation": {...}}', { toolConfirmation: { confirmed: true } }],
    ['or {"response": {...}}', { response: { confirmed: true } }],
  ])("The preprocessor accepts %s", async (_, response) => {
    const { runner, transferred } = transferScene();
    await collect(runner.run(said));
    await collect(runner.run({ ...said, message: answer("call-1", response) }));
    expect(transferred).toEqual([100]);
  });

  test("Responses without a function-call id are dropped with a warning", async () => {
    const { runner, model, transferred } = transferScene();
    await collect(runner.run(said));
    const nameless = {
      role: "user",
      parts: [
        { functionResponse: { name: REQUEST_CONFIRMATION_FUNCTION_NAME, response: { confirmed: true } } },
      ],
    };
    expect(decodeAnswers(nameless)).toMatchObject({
      decisions: [],
      warnings: ["dropped: no function-call id"],
    });
    expect(await collect(runner.run({ ...said, message: nameless }))).toEqual([]);
    expect(transferred).toEqual([]);
    expect(model.requests).toHaveLength(1);
    expect(await runner.pending()).toHaveLength(1);
  });
});

describe("6. The runner absorbs and replays", () => {
  test("extracts decisions from the user event", () => {
    expect(decodeAnswers(answer("call-1", { confirmed: true, payload: { amount: 90 } })).decisions).toEqual([
      { id: "call-1", confirmed: true, payload: { amount: 90 } },
    ]);
  });

  test("running the tool if confirmed (the decision is injected into ToolContext::tool_confirmation)", async () => {
    const { runner, decisions } = transferScene();
    await collect(runner.run(said));
    await collect(runner.run({ ...said, message: answer("call-1", { confirmed: true }) }));
    expect(decisions).toEqual([{ hint: "Approve this transfer?", confirmed: true }]);
  });

  test('or returning {"error": "tool call was rejected by the user"} to the model if denied', async () => {
    const { runner, model, transferred } = transferScene();
    await collect(runner.run(said));
    const events = await collect(runner.run({ ...said, message: answer("call-1", { confirmed: false }) }));
    expect(transferred).toEqual([]);
    expect(model.requests.at(-1)?.contents.at(-1)?.parts).toEqual([
      {
        functionResponse: {
          id: "call-1",
          name: "transfer_money",
          response: { error: "tool call was rejected by the user" },
        },
      },
    ]);
    expect(events.at(-1)?.content?.parts).toEqual([{ text: "Done." }]);
  });

  test("the owning agent replays the original call: no model call is needed to resume it", async () => {
    const { runner, model } = transferScene();
    await collect(runner.run(said));
    const [result, text] = await collect(
      runner.run({ ...said, message: answer("call-1", { confirmed: true }) }),
    );
    expect(result?.content?.parts).toEqual([
      {
        functionResponse: {
          id: "call-1",
          name: "transfer_money",
          response: { ok: true, transferred: 100 },
        },
      },
    ]);
    expect(text?.content?.parts).toEqual([{ text: "Done." }]);
    expect(model.requests).toHaveLength(2);
  });
});

describe("End-to-end example: gate, pause, approve", () => {
  test("transfer_money now runs exactly once", async () => {
    const { runner, transferred } = transferScene();
    const asked: string[] = [];
    for await (const event of runner.run(said)) {
      for (const [id, { hint }] of Object.entries(event.actions.requestedToolConfirmations ?? {})) {
        asked.push(`approval needed for ${id}: ${hint ?? ""}`);
      }
    }
    expect(asked).toEqual(["approval needed for call-1: Approve this transfer?"]);
    const approvals = Array.from({ length: 4 }, () =>
      collect(runner.run({ ...said, message: answer("call-1", { confirmed: true }) })),
    );
    const told = await Promise.all(approvals);
    expect(transferred).toEqual([100]);
    for (const events of told) expect(events.at(-1)?.content?.parts).toEqual([{ text: "Done." }]);
  });

  test("optional structured data the user attached, e.g. an amended parameter set, reaches the tool and changes no argument", async () => {
    const { runner, transferred, decisions } = transferScene();
    await collect(runner.run(said));
    await collect(
      runner.run({ ...said, message: answer("call-1", { confirmed: true, payload: { amount: 90 } }) }),
    );
    expect(transferred).toEqual([100]);
    expect(decisions).toMatchObject([{ payload: { amount: 90 } }]);
  });
});
