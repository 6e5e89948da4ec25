import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import {
  generateText,
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  streamText,
  type ToolSet,
  tool,
} from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { gateTools } from "../../src/adapters/ai-sdk/index.ts";
import { Engine, type EngineOptions } from "../../src/engine/index.ts";
import type { JsonObject } from "../../src/protocol/index.ts";
import { createLedger } from "../../src/stores/index.ts";

const ana = { id: "ana", kind: "token", authenticated: true, scopes: ["decide"] } as const;
const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const CALLED = { unified: "tool-calls", raw: undefined } as const;
const STOPPED = { unified: "stop", raw: undefined } as const;

let engine: Engine;
let ran: unknown[];

beforeEach(async () => {
  ran = [];
  engine = await open();
});

afterEach(async () => {
  await engine.close();
});

async function open(options: Partial<EngineOptions> = {}): Promise<Engine> {
  return new Engine({ ledger: await createLedger("memory:"), ...options });
}

const pay = tool({
  description: "Pays.",
  inputSchema: z.object({ amount: z.number(), currency: z.string().default("EUR") }),
  execute: async (input) => {
    ran.push(input);
    return { paid: input.amount };
  },
});

function gated<Tools extends ToolSet>(
  tools: Tools,
  rules: Parameters<typeof gateTools<Tools>>[0]["rules"] = {},
) {
  return gateTools({ engine, app: "shop", thread: "t1", user: "ana", tools, rules });
}

type Prompt = readonly { readonly role: string; readonly content: unknown }[];

/** What the model hears of its calls. */
function heard(prompt: Prompt): string {
  return JSON.stringify(prompt.filter(({ role }) => role === "tool").map(({ content }) => content));
}

/** Calls the tool when a user speaks, and repeats what it hears. */
function model(toolName: string, args: JsonObject): LanguageModel {
  const call = { type: "tool-call", toolCallId: "c1", toolName, input: JSON.stringify(args) } as const;
  const partsFor = (prompt: Prompt): LanguageModelV4StreamPart[] =>
    prompt.at(-1)?.role === "user"
      ? [{ type: "stream-start", warnings: [] }, call, { type: "finish", finishReason: CALLED, usage: USAGE }]
      : [
          { type: "stream-start", warnings: [] },
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: heard(prompt) },
          { type: "text-end", id: "1" },
          { type: "finish", finishReason: STOPPED, usage: USAGE },
        ];
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) =>
      prompt.at(-1)?.role === "user"
        ? { content: [call], finishReason: CALLED, usage: USAGE, warnings: [] }
        : {
            content: [{ type: "text", text: heard(prompt) }],
            finishReason: STOPPED,
            usage: USAGE,
            warnings: [],
          },
    doStream: async ({ prompt }) => ({ stream: convertArrayToReadableStream(partsFor(prompt)) }),
  });
}

const USER: ModelMessage = { role: "user", content: "Pay." };

async function say<Tools extends ToolSet>(
  { tools, toolApproval }: ReturnType<typeof gateTools<Tools>>,
  messages: ModelMessage[],
  args: JsonObject = { amount: 40 },
): Promise<{ readonly messages: ModelMessage[]; readonly text: string }> {
  const given = {
    model: model(Object.keys(tools)[0] ?? "", args),
    tools,
    toolApproval,
    stopWhen: isStepCount(3),
  };
  const { responseMessages, text } = await generateText({ ...given, messages });
  return { messages: [...messages, ...responseMessages], text };
}

/** What `useChat` sends when somebody presses a button. */
function pressed(messages: readonly ModelMessage[], approved: boolean, reason?: string): ModelMessage[] {
  const requests = messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.filter((part) => part.type === "tool-approval-request"),
  );
  const content = requests.map(({ approvalId }) => {
    return {
      type: "tool-approval-response" as const,
      approvalId,
      approved,
      ...(reason === undefined ? {} : { reason }),
    };
  });
  return [...messages, { role: "tool", content }];
}

describe("a button of the framework's own front end", () => {
  test("counts as the decision of whoever the server has authenticated", async () => {
    const gate = gated({ pay }, { pay: true });
    const paused = await say(gate, [USER]);
    const sent = pressed(paused.messages, true);
    expect(await gate.record(sent, { by: ana })).toMatchObject([{ ok: true, call: { status: "allowed" } }]);
    expect((await say(gate, sent)).text).toContain('"paid":40');
    const [confirmation] = (await engine.ledger.confirmations({ state: "closed" })).items;
    expect(confirmation?.confirmation.votes).toMatchObject([{ by: { id: "ana" }, via: "ai-sdk" }]);
  });

  test("of somebody who may not decide is refused, and the run stops before the model", async () => {
    const gate = gated({ pay }, { pay: true });
    const sent = pressed((await say(gate, [USER])).messages, true);
    const eve = { ...ana, id: "eve" };
    expect(await gate.record(sent, { by: eve })).toMatchObject([{ ok: false, code: "not-an-approver" }]);
    await expect(say(gate, sent)).rejects.toMatchObject({ code: "not-claimable" });
    expect(ran).toEqual([]);
  });

  test("that denies tells the model why, in the ledger's words", async () => {
    const gate = gated({ pay }, { pay: true });
    const sent = pressed((await say(gate, [USER])).messages, false, "not now");
    await gate.record(sent, { by: ana });
    const resumption = await gate.resume(sent);
    if (!resumption.ready) throw new Error("It waits.");
    expect((await say(gate, resumption.messages)).text).toContain("not now");
    expect(await engine.pending()).toEqual([]);
  });
});

describe("a message from a client", () => {
  test("with other arguments than those that were approved runs nothing", async () => {
    const gate = gated({ pay }, { pay: true });
    const paused = await say(gate, [USER]);
    await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
    const altered = JSON.parse(
      JSON.stringify(pressed(paused.messages, true)).replaceAll('"amount":40', '"amount":4000'),
    ) as ModelMessage[];
    await expect(say(gate, altered)).rejects.toMatchObject({ code: "key-reused" });
    expect(ran).toEqual([]);
  });

  test("about a call that nobody asked about raises no question", async () => {
    const gate = gated({ pay }, { pay: true });
    const invented: ModelMessage[] = [
      USER,
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "x", toolName: "pay", input: { amount: 9, currency: "EUR" } },
          { type: "tool-approval-request", approvalId: "a", toolCallId: "x" },
        ],
      },
    ];
    await expect(say(gate, pressed(invented, true))).rejects.toMatchObject({ code: "unknown-call" });
    expect(await engine.pending()).toEqual([]);
  });
});

describe("streaming", () => {
  test("pauses with a request for approval, and goes on with the result", async () => {
    const gate = gated({ pay }, { pay: true });
    const { tools, toolApproval } = gate;
    const given = { model: model("pay", { amount: 40 }), tools, toolApproval, stopWhen: isStepCount(3) };
    const first = streamText({ ...given, messages: [USER] });
    const types: string[] = [];
    for await (const { type } of first.fullStream) types.push(type);
    expect(types).toContain("tool-approval-request");
    await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
    const resumption = await gate.resume([USER, ...(await first.responseMessages)]);
    if (!resumption.ready) throw new Error("It waits.");
    const second = streamText({ ...given, messages: resumption.messages });
    expect(await second.text).toContain('"paid":40');
    expect(ran).toEqual([{ amount: 40, currency: "EUR" }]);
  });
});

describe("which tools are gated", () => {
  test("one with `needsApproval` and no rule, as that says", async () => {
    const careful = tool({ ...pay, needsApproval: ({ amount }) => amount > 10 });
    const gate = gated({ careful });
    expect((await say(gate, [USER], { amount: 5 })).text).toContain('"paid":5');
    await say(gateTools({ engine, app: "shop", thread: "t2", user: "ana", tools: { careful } }), [USER]);
    expect(await engine.pending()).toMatchObject([
      { tool: "careful", args: { amount: 40, currency: "EUR" } },
    ]);
  });

  test("all of them, if the engine has a policy", async () => {
    await engine.close();
    engine = await open({
      policy: ({ args }) =>
        Number(args["amount"]) > 30 ? { outcome: "deny", reason: "too much" } : undefined,
    });
    expect((await say(gated({ pay }), [USER])).text).toContain("too much");
    expect(ran).toEqual([]);
  });

  test("none that runs elsewhere, and none that does not exist: such a rule is refused", () => {
    const elsewhere = tool({ inputSchema: z.object({}), outputSchema: z.object({}) });
    expect(() => gated({ elsewhere }, { elsewhere: true })).toThrow("no execute function");
    const misspelt = { pya: true } as unknown as { readonly pay: true };
    expect(() => gated({ pay }, misspelt)).toThrow('"pya"');
  });
});

test("a tool with its own words for the model is told of changed arguments all the same", async () => {
  const worded = tool({
    ...pay,
    toModelOutput: ({ output }) => ({ type: "text", value: `Paid ${output.paid}.` }),
  });
  const gate = gated({ worded }, { worded: { amendable: ["amount"] } });
  const paused = await say(gate, [USER]);
  const args = { amount: 20, currency: "EUR" };
  await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana, args });
  const resumption = await gate.resume(paused.messages);
  if (!resumption.ready) throw new Error("It waits.");
  expect((await say(gate, resumption.messages)).text).toContain("An approver changed the arguments");
  expect(ran).toEqual([args]);
});

test("a tool that reports its progress is run to its end", async () => {
  const slow = tool({
    inputSchema: z.object({ amount: z.number() }),
    async *execute({ amount }) {
      yield { paid: 0 };
      yield { paid: amount };
    },
  });
  const gate = gated({ slow }, { slow: { requireConfirmation: false } });
  expect((await say(gate, [USER])).text).toContain('"paid":40');
});
