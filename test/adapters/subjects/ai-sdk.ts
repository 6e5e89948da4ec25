import { generateText, isStepCount, jsonSchema, type ModelMessage, type ToolSet, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { type GatedTools, gateTools } from "../../../src/adapters/ai-sdk/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import {
  type AdapterHost,
  type AdapterSubject,
  type ModelCall,
  ORDER_DESCRIPTION,
  ORDER_INPUT,
  ORDER_RULE,
  PAY_RULE,
  PAY_SCHEMA,
  type Progress,
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
    const { responseMessages, content } = await generateText({
      model: scripted(calls, told),
      messages,
      tools,
      toolApproval,
      stopWhen: isStepCount(STEPS),
    });
    const paused = content.some((part) => part.type === "tool-approval-request" && part.isAutomatic !== true);
    return {
      state: JSON.stringify([...messages, ...responseMessages]),
      status: paused ? "paused" : "done",
      told,
    };
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
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      const base = { usage: USAGE, warnings: [] };
      if (last?.role === "user") {
        const content = calls.map(({ id, tool: toolName, args }) => {
          return { type: "tool-call" as const, toolCallId: id, toolName, input: JSON.stringify(args) };
        });
        return { ...base, content, finishReason: { unified: "tool-calls", raw: undefined } };
      }
      const asked = prompt.findLastIndex(({ role }) => role === "user");
      for (const message of prompt.slice(asked))
        if (message.role === "tool")
          for (const part of message.content)
            if (part.type === "tool-result") told[part.toolCallId] = JSON.stringify(part.output);
      return {
        ...base,
        content: [{ type: "text", text: "Done." }],
        finishReason: { unified: "stop", raw: undefined },
      };
    },
  });
}
