import type {
  LanguageModelV4Content,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import {
  generateText,
  isStepCount,
  jsonSchema,
  type ModelMessage,
  streamText,
  type TextStreamPart,
  type ToolSet,
  tool,
} from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { type GatedTools, gateTools } from "../../../src/adapters/ai-sdk/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import {
  type AdapterHost,
  type AdapterSubject,
  FIRST_WORDS,
  LAST_WORDS,
  type ModelCall,
  ORDER_DESCRIPTION,
  ORDER_INPUT,
  ORDER_RULE,
  PAY_RULE,
  PAY_SCHEMA,
  type Progress,
  type Seen,
  TRANSFER_DESCRIPTION,
  TRANSFER_INPUT,
  type World,
} from "../contract/subject.ts";

/** The AI SDK: messages as its state, as a server behind `useChat` keeps them. */
export const aiSdkSubject: AdapterSubject = { name: "ai-sdk", open: (world) => new AiSdkHost(world) };

const STEPS = 5;
const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export type Told = Record<string, string>;

class AiSdkHost implements AdapterHost {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  send(calls: readonly ModelCall[], state?: string): Promise<Progress> {
    const before = state === undefined ? [] : (JSON.parse(state) as ModelMessage[]);
    return this.#generate([...before, { role: "user", content: "Pay." }], calls);
  }

  async resume(state: string): Promise<Progress> {
    const resumption = await this.#gate().resume(JSON.parse(state) as ModelMessage[]);
    return resumption.ready ? this.#generate(resumption.messages, []) : { state, status: "paused", told: {} };
  }

  forge(state: string): Promise<Progress> {
    const messages = JSON.parse(state) as ModelMessage[];
    const requests = messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.filter((part) => part.type === "tool-approval-request"),
    );
    const content = requests.map(({ approvalId }) => {
      return { type: "tool-approval-response" as const, approvalId, approved: true };
    });
    return this.#generate([...messages, { role: "tool", content }], []);
  }

  cancel(reason: string): Promise<number> {
    return this.#gate().cancel(reason);
  }

  #gate(): GatedTools<ToolSet> {
    const { engine, app, thread, expiresInMs, few, noteOutside } = this.#world;
    const pay = { ...PAY_RULE, ...(expiresInMs === undefined ? {} : { expiresInMs }) };
    const rules = few === true ? { pay } : { pay, order: ORDER_RULE, transfer: ORDER_RULE };
    const all = toolsOf(this.#world);
    const { note: _outside, ...others } = all;
    const tools = noteOutside === true ? others : all;
    const gate = gateTools<ToolSet>({ engine, app, thread, tools, rules });
    return { ...gate, tools: { ...all, ...gate.tools } };
  }

  async #generate(messages: ModelMessage[], calls: readonly ModelCall[]): Promise<Progress> {
    const told: Told = {};
    const { tools, toolApproval } = this.#gate();
    const model = scripted(calls, told);
    const given = { model, messages, tools, toolApproval, stopWhen: isStepCount(STEPS) };
    const { responseMessages, asked, ...streamed } = await (this.#world.streams === true
      ? stream(given)
      : generate(given));
    return {
      state: JSON.stringify([...messages, ...responseMessages]),
      status: asked ? "paused" : "done",
      told,
      ...streamed,
    };
  }
}

interface Generated {
  readonly responseMessages: readonly ModelMessage[];
  readonly asked: boolean;
  readonly seen?: readonly Seen[];
}

async function generate(given: Parameters<typeof generateText<ToolSet>>[0]): Promise<Generated> {
  const { responseMessages, content } = await generateText(given);
  const asked = content.some((part) => part.type === "tool-approval-request" && part.isAutomatic !== true);
  return { responseMessages, asked };
}

async function stream(given: Parameters<typeof streamText<ToolSet>>[0]): Promise<Generated> {
  const result = streamText({ ...given, onError: () => {} });
  const seen: Seen[] = [];
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
    seen.push(...seenIn(part));
  }
  return {
    responseMessages: await result.responseMessages,
    asked: seen.some((each) => "asked" in each),
    seen,
  };
}

function seenIn(part: TextStreamPart<ToolSet>): readonly Seen[] {
  switch (part.type) {
    case "text-delta":
      return [{ text: part.text }];
    case "tool-call":
      return [{ call: part.toolCallId }];
    case "tool-approval-request":
      return part.isAutomatic === true ? [] : [{ asked: part.toolCall.toolCallId }];
    case "tool-result":
      return [{ result: part.toolCallId }];
    case "tool-output-denied":
      return [{ result: part.toolCallId }];
    default:
      return [];
  }
}

function toolsOf(world: World): ToolSet {
  const pay = tool({
    description: world.description,
    inputSchema: jsonSchema<JsonObject>(PAY_SCHEMA as never),
    execute: (input) => world.pay(input),
  });
  const note = tool({
    inputSchema: jsonSchema<JsonObject>({ type: "object" }),
    execute: async (input) => input,
  });
  if (world.few === true) return { pay, note };
  const order = tool({
    description: ORDER_DESCRIPTION,
    inputSchema: ORDER_INPUT,
    execute: (input) => world.pay(input),
  });
  const transfer = tool({
    description: TRANSFER_DESCRIPTION,
    inputSchema: TRANSFER_INPUT,
    execute: (input) => world.pay(input as JsonObject),
  });
  return { pay, note, order, transfer };
}

/** Makes the calls when a user speaks, and answers with text when it gets results. */
export function scripted(calls: readonly ModelCall[], told: Told): MockLanguageModelV4 {
  const answer = (prompt: LanguageModelV4Prompt): readonly LanguageModelV4Content[] => {
    if (prompt.at(-1)?.role === "user")
      return calls.map(({ id, tool: toolName, args }) => {
        return { type: "tool-call", toolCallId: id, toolName, input: JSON.stringify(args) };
      });
    const asked = prompt.findLastIndex(({ role }) => role === "user");
    for (const message of prompt.slice(asked))
      if (message.role === "tool")
        for (const part of message.content)
          if (part.type === "tool-result") told[part.toolCallId] = JSON.stringify(part.output);
    return [{ type: "text", text: LAST_WORDS.join("") }];
  };
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const content = [...answer(prompt)];
      return { content, finishReason: finishOf(content), usage: USAGE, warnings: [] };
    },
    doStream: async ({ prompt }) => ({ stream: convertArrayToReadableStream(partsOf(answer(prompt))) }),
  });
}

function finishOf(content: readonly LanguageModelV4Content[]) {
  const isCalling = content.some(({ type }) => type === "tool-call");
  return { unified: isCalling ? "tool-calls" : "stop", raw: undefined } as const;
}

function partsOf(content: readonly LanguageModelV4Content[]): LanguageModelV4StreamPart[] {
  const calls = content.filter((part) => part.type === "tool-call");
  const said = calls.length > 0 ? FIRST_WORDS : LAST_WORDS;
  return [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "1" },
    ...said.map((delta) => ({ type: "text-delta", id: "1", delta }) as const),
    { type: "text-end", id: "1" },
    ...calls.flatMap((call): LanguageModelV4StreamPart[] => [
      { type: "tool-input-start", id: call.toolCallId, toolName: call.toolName },
      { type: "tool-input-delta", id: call.toolCallId, delta: call.input },
      { type: "tool-input-end", id: call.toolCallId },
      call,
    ]),
    { type: "finish", finishReason: finishOf(content), usage: USAGE },
  ];
}
