import { AIMessage, AIMessageChunk, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { createGate, type LangChainGate, type Pause } from "../../../src/adapters/langchain/index.ts";
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
  type Seen,
  TRANSFER_DESCRIPTION,
  TRANSFER_INPUT,
  type World,
} from "../contract/subject.ts";
import { ScriptedChatModel, type Told } from "./langchain-model.ts";

/** LangChain: an agent of `createAgent`, with its checkpoints as text. */
export const langchainSubject: AdapterSubject = {
  name: "langchain",
  open: (world) => new LangChainHost(world),
};

/** Whatever is in the checkpoints, the conversation is the one of the world. */
const CONFIG = { configurable: { thread_id: "checkpoints" } };

class LangChainHost implements AdapterHost {
  readonly #world: World;
  readonly #gate: LangChainGate;

  constructor(world: World) {
    this.#world = world;
    const { engine, app, thread } = world;
    this.#gate = createGate({ engine, app, identify: () => ({ thread }) });
  }

  send(calls: readonly ModelCall[], state?: string): Promise<Progress> {
    return this.#invoke(state, calls, { messages: [{ role: "user", content: "Pay." }] });
  }

  async resume(state: string): Promise<Progress> {
    const resumption = await this.#gate.resume(this.#agent([], {}, savedIn(state)), CONFIG);
    return resumption.ready
      ? this.#invoke(state, [], resumption.command)
      : { state, status: "paused", told: {} };
  }

  async forge(state: string): Promise<Progress> {
    const agent = this.#agent([], {}, savedIn(state));
    const snapshot: {
      readonly tasks: readonly { readonly interrupts: readonly { readonly id?: string }[] }[];
    } = await agent.graph.getState(CONFIG);
    const ids = snapshot.tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => id ?? ""));
    const resume: Record<string, unknown> = {};
    for (const id of ids) resume[id] = { decisions: [{ type: "approve" }] };
    return this.#invoke(state, [], new Command({ resume }));
  }

  cancel(reason: string): Promise<number> {
    return this.#gate.cancel(this.#world.thread, reason);
  }

  async #invoke(state: string | undefined, calls: readonly ModelCall[], input: unknown): Promise<Progress> {
    const told: Told = {};
    const saver = savedIn(state);
    const agent = this.#agent(calls, told, saver);
    const { paused, ...streamed } = await (this.#world.streams === true
      ? stream(agent, input)
      : invoke(agent, input));
    return { state: textOf(saver), status: paused ? "paused" : "done", told, ...streamed };
  }

  #agent(calls: readonly ModelCall[], told: Told, checkpointer: MemorySaver) {
    const { description, expiresInMs, few, noteOutside } = this.#world;
    const pay = tool((input: unknown) => this.#world.pay(input as JsonObject), {
      name: "pay",
      description,
      schema: PAY_SCHEMA as never,
    });
    const order = tool((input: unknown) => this.#world.pay(input as JsonObject), {
      name: "order",
      description: ORDER_DESCRIPTION,
      schema: ORDER_INPUT,
    });
    const transfer = tool((input: unknown) => this.#world.pay(input as JsonObject), {
      name: "transfer",
      description: TRANSFER_DESCRIPTION,
      schema: TRANSFER_INPUT,
    });
    const note = tool((input: unknown) => input as JsonObject, {
      name: "note",
      description: "Notes a text.",
      schema: { type: "object", properties: {} } as never,
    });
    const rule = { ...PAY_RULE, ...(expiresInMs === undefined ? {} : { expiresInMs }) };
    const fewTools = (): [typeof pay, typeof note] =>
      noteOutside === true
        ? [...this.#gate.tools([pay], { pay: rule }), note]
        : this.#gate.tools([pay, note], { pay: rule });
    const tools =
      few === true
        ? fewTools()
        : this.#gate.tools([pay, order, transfer, note], {
            pay: rule,
            order: ORDER_RULE,
            transfer: ORDER_RULE,
          });
    return createAgent({ model: new ScriptedChatModel(calls, told), tools, checkpointer });
  }
}

interface Ended {
  readonly paused: boolean;
  readonly seen?: readonly Seen[];
}

type Agent = ReturnType<typeof createAgent>;

async function invoke(agent: Pick<Agent, "invoke">, input: unknown): Promise<Ended> {
  const result = (await agent.invoke(input, CONFIG)) as object;
  return { paused: "__interrupt__" in result };
}

async function stream(agent: Pick<Agent, "stream">, input: unknown): Promise<Ended> {
  const seen: Seen[] = [];
  const parts = await agent.stream(input, { ...CONFIG, streamMode: ["messages", "updates"] });
  for await (const part of parts) seen.push(...seenIn(part as StreamPart));
  return { paused: seen.some((each) => "asked" in each), seen };
}

type StreamPart =
  | readonly ["messages", readonly [BaseMessage, unknown]]
  | readonly ["updates", { readonly [node: string]: unknown }];

function seenIn(part: StreamPart): readonly Seen[] {
  if (part[0] === "messages") {
    const [message] = part[1];
    return AIMessageChunk.isInstance(message) && message.text !== "" ? [{ text: message.text }] : [];
  }
  return Object.entries(part[1]).flatMap(([node, update]) => {
    if (node === "__interrupt__")
      return (update as readonly { readonly value: Pause }[]).map(({ value }) => ({
        asked: value.countersign.call.split("/").at(-1) ?? "",
      }));
    const { messages = [] } = update as { readonly messages?: readonly BaseMessage[] };
    return messages.flatMap((message): readonly Seen[] => {
      if (ToolMessage.isInstance(message)) return [{ result: message.tool_call_id }];
      return AIMessage.isInstance(message)
        ? (message.tool_calls ?? []).map(({ id = "" }) => ({ call: id }))
        : [];
    });
  });
}

/** A checkpointer with what this text says: every host has its own copy, as if the state had been sent to it. */
export function savedIn(state: string | undefined): MemorySaver {
  const saver = new MemorySaver();
  if (state === undefined) return saver;
  return Object.assign(saver, JSON.parse(state, revive) as Pick<MemorySaver, "storage" | "writes">);
}

function revive(_name: string, value: unknown): unknown {
  return typeof value === "object" && value !== null && "bytes" in value
    ? new TextEncoder().encode(String(value.bytes))
    : value;
}

export function textOf({ storage, writes }: MemorySaver): string {
  return JSON.stringify({ storage, writes }, (_name, value: unknown) =>
    value instanceof Uint8Array ? { bytes: new TextDecoder().decode(value) } : value,
  );
}
