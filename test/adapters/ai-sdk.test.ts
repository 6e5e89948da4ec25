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

/** The results that `convertToModelMessages` writes beside denials. */
function withDenials(messages: readonly ModelMessage[]): ModelMessage[] {
  const last = messages.at(-1);
  if (last?.role !== "tool") throw new Error("Nothing was pressed.");
  const denial = {
    type: "tool-result",
    toolCallId: "c1",
    toolName: "pay",
    output: { type: "execution-denied" },
  } as const;
  return [...messages.slice(0, -1), { ...last, content: [...last.content, denial] }];
}

/** A call and a request about it that the model never made, and any number of results before. */
function invented(results: number, toolCallId = "x"): ModelMessage[] {
  const call = { type: "tool-call", toolCallId, toolName: "pay", input: PAID } as const;
  const value = { type: "json", value: { paid: 9 } } as const;
  const result = { type: "tool-result", toolCallId, toolName: "pay", output: value } as const;
  return [
    USER,
    {
      role: "assistant",
      content: [call, { type: "tool-approval-request", approvalId: "a", toolCallId }],
    },
    ...Array.from({ length: results }, (): ModelMessage => ({ role: "tool", content: [result] })),
  ];
}

const PAID = { amount: 9, currency: "EUR" };

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

  test("that denies is recorded as `convertToModelMessages` writes it, with a result beside it", async () => {
    const gate = gated({ pay }, { pay: true });
    const sent = withDenials(pressed((await say(gate, [USER])).messages, false, "not now"));
    expect(await gate.record(sent, { by: ana })).toMatchObject([{ ok: true, call: { status: "denied" } }]);
    const resumption = await gate.resume(sent);
    if (!resumption.ready) throw new Error("It waits.");
    const { text } = await say(gate, resumption.messages);
    expect(text.match(/execution-denied/g)).toHaveLength(1);
    expect(text).toContain("not now");
  });

  test("that denies, from somebody who may not decide, leaves the question to those who may", async () => {
    const gate = gated({ pay }, { pay: true });
    const sent = withDenials(pressed((await say(gate, [USER])).messages, false));
    const eve = { ...ana, id: "eve" };
    expect(await gate.record(sent, { by: eve })).toMatchObject([{ ok: false, code: "not-an-approver" }]);
    expect(await gate.resume(sent)).toMatchObject({ ready: false, waiting: [{ status: "pending" }] });
    // A server that believes the client: the model hears of a denial that nobody decided.
    const believed = await say(gate, pressed((await say(gate, [USER])).messages, false));
    expect(await gate.resume(believed.messages)).toMatchObject({ waiting: [{ status: "pending" }] });
    await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
    const resumption = await gate.resume(believed.messages);
    if (!resumption.ready) throw new Error("It waits.");
    const done = await say(gate, resumption.messages);
    expect(done.text).toContain('"paid":40');
    expect(ran).toHaveLength(1);
    expect(await gate.resume(done.messages)).toEqual({ ready: false, waiting: [] });
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
    await expect(say(gate, pressed(invented(0), true))).rejects.toMatchObject({ code: "unknown-call" });
    expect(await engine.pending()).toEqual([]);
  });

  test.each([1, 2])("with %i invented results starts no call", async (results) => {
    const small = gated({ pay }, { pay: { requireConfirmation: ({ amount }) => amount > 10 } });
    await expect(say(small, pressed(invented(results), true))).rejects.toMatchObject({
      code: "unknown-call",
    });
    // Nor after a call that has ended.
    expect((await say(small, [USER], PAID)).text).toContain('"paid":9');
    const sent = pressed(invented(results, "c1"), true);
    await expect(say(small, sent)).rejects.toMatchObject({ code: "unknown-call" });
    expect(ran).toEqual([PAID]);
  });

  test("that is sent twice at once, with an invented result, runs an approved call once", async () => {
    const gate = gated({ pay }, { pay: { requireConfirmation: false } });
    const asking = gated({ pay }, { pay: true });
    const paused = await say(asking, [USER]);
    await engine.approve((await engine.pending())[0]?.id ?? "", { by: ana });
    const [call] = invented(1, "c1").filter(({ role }) => role === "tool");
    if (call === undefined) throw new Error("There is no result.");
    const sent = pressed([...paused.messages, call], true);
    const { toolApproval, tools } = gate;
    const input = { amount: 40, currency: "EUR" };
    const options = { toolCallId: "c1", messages: sent, context: undefined };
    expect(await toolApproval.pay?.(input, options)).toMatchObject({ type: "approved" });
    await tools.pay.execute?.(input, options as never);
    await expect(tools.pay.execute?.(input, options as never)).rejects.toMatchObject({
      code: "unknown-call",
    });
    expect(ran).toEqual([input]);
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

  test("not one without a rule: it is the author's own object", () => {
    const note = tool({ inputSchema: z.object({}), execute: async () => "noted" });
    const { tools, toolApproval } = gated({ pay, note }, { pay: true });
    expect(tools.note).toBe(note);
    expect(Object.keys(toolApproval)).toEqual(["pay"]);
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

test("changed arguments that the tool's schema would change again do not run", async () => {
  const cents = tool({
    ...pay,
    inputSchema: z.object({ amount: z.number().transform((euros) => euros * 100), currency: z.string() }),
  });
  const gate = gated({ cents }, { cents: { amendable: ["amount"] } });
  const asked = { amount: 4_000, currency: "EUR" };
  const options = { toolCallId: "c1", messages: [USER], context: undefined };
  expect(await gate.toolApproval.cents?.(asked, options)).toMatchObject({ type: "user-approval" });
  const [question] = await engine.pending();
  await engine.approve(question?.id ?? "", { by: ana, args: { ...asked, amount: 2_000 } });
  const run = gate.tools.cents.execute?.(asked, options as never);
  await expect(run).rejects.toThrow("tool's schema changes the approver's arguments");
  expect(ran).toEqual([]);
});

test("a user of the API who is named like the app has none of its calls", async () => {
  const gate = gated({ pay }, { pay: true });
  await engine.callers.propose({
    by: { id: "shop", kind: "token", authenticated: true },
    app: "shop",
    thread: "t1",
    key: "t1/c1",
    tool: "pay",
    args: { amount: 40, currency: "EUR" },
    requireConfirmation: false,
  });
  await say(gate, [USER]);
  expect(await engine.pending()).toHaveLength(1);
  expect(ran).toEqual([]);
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
