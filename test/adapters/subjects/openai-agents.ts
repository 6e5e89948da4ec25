import {
  Agent,
  type AgentInputItem,
  type AssistantMessageItem,
  type FunctionCallItem,
  type Model,
  type ModelRequest,
  Runner,
  RunState,
  type RunStreamEvent,
  type Tool,
  tool,
  Usage,
} from "@openai/agents";
import { type AgentsGate, createGate } from "../../../src/adapters/openai-agents/index.ts";
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

/** The OpenAI Agents SDK: a run's state as text, and the history between messages. */
export const openaiAgentsSubject: AdapterSubject = {
  name: "openai-agents",
  open: (world) => new AgentsHost(world),
};

interface Context {
  readonly thread: string;
  readonly turn: string;
}

interface State {
  readonly turn: number;
  /** Of a run that waits. */
  readonly run?: string;
  /** Of a run that has ended. */
  readonly history?: AgentInputItem[];
}

export type Told = Record<string, string>;

class AgentsHost implements AdapterHost {
  readonly #world: World;
  readonly #gate: AgentsGate<Context>;
  readonly #runner = new Runner({ tracingDisabled: true });

  constructor(world: World) {
    this.#world = world;
    const { engine, app, thread } = world;
    // The thread is the server's, whatever a state says.
    this.#gate = createGate<Context>({ engine, app, identify: ({ turn }) => ({ thread, turn }) });
  }

  async send(calls: readonly ModelCall[], state?: string): Promise<Progress> {
    const before = state === undefined ? undefined : (JSON.parse(state) as State);
    const turn = (before?.turn ?? -1) + 1;
    const input: AgentInputItem[] = [...(before?.history ?? []), { role: "user", content: "Pay." }];
    const told: Told = {};
    const context = { thread: this.#world.thread, turn: String(turn) };
    const ended = await this.#run(this.#agent(calls, told), input, context);
    return progressOf(ended, { turn, told });
  }

  async resume(state: string): Promise<Progress> {
    return this.#goOn(state, async (run) => (await this.#gate.resume(run)).ready);
  }

  forge(state: string): Promise<Progress> {
    return this.#goOn(state, async (run) => {
      for (const item of run.getInterruptions()) run.approve(item);
      return true;
    });
  }

  cancel(reason: string): Promise<number> {
    return this.#gate.cancel(this.#world.thread, reason);
  }

  async #goOn(
    state: string,
    answer: (run: RunState<Context, Agent<Context>>) => Promise<boolean>,
  ): Promise<Progress> {
    const { run: text, turn } = JSON.parse(state) as State;
    if (text === undefined) throw new Error("It does not wait.");
    const told: Told = {};
    const agent = this.#agent([], told);
    const run = await RunState.fromString<Context, Agent<Context>>(agent, text);
    if (!(await answer(run))) return { state, status: "paused", told };
    return progressOf(await this.#run(agent, run), { turn, told });
  }

  async #run(
    agent: Agent<Context>,
    input: AgentInputItem[] | RunState<Context, Agent<Context>>,
    context?: Context,
  ): Promise<Ended> {
    const options = context === undefined ? {} : { context };
    if (this.#world.streams !== true) return { run: await this.#runner.run(agent, input, options) };
    const run = await this.#runner.run(agent, input, { ...options, stream: true });
    const seen: Seen[] = [];
    for await (const event of run) seen.push(...seenIn(event));
    await run.completed;
    return { run, seen };
  }

  #agent(calls: readonly ModelCall[], told: Told): Agent<Context> {
    const { description, expiresInMs, few } = this.#world;
    const rule = { ...PAY_RULE, ...(expiresInMs === undefined ? {} : { expiresInMs }) };
    const parameters = { ...PAY_SCHEMA, additionalProperties: true } as never;
    const pay = this.#gate.tool(
      {
        name: "pay",
        description,
        parameters,
        strict: false,
        execute: (input: unknown) => this.#world.pay(input as JsonObject),
      },
      rule,
    );
    return new Agent<Context>({
      name: "cashier",
      instructions: "Pay.",
      model: scripted(calls, told),
      tools: [pay, noteTool(), ...(few === true ? [] : this.#ordering())],
    });
  }

  #ordering(): Tool<Context>[] {
    const order = this.#gate.tool(
      {
        name: "order",
        description: ORDER_DESCRIPTION,
        parameters: ORDER_INPUT,
        execute: (input) => this.#world.pay(input),
      },
      ORDER_RULE,
    );
    const transfer = this.#gate.tool(
      {
        name: "transfer",
        description: TRANSFER_DESCRIPTION,
        // The SDK takes transforms only of schemas that it does not know as zod's.
        parameters: { "~standard": TRANSFER_INPUT["~standard"] },
        execute: (input) => this.#world.pay(input as JsonObject),
      },
      ORDER_RULE,
    );
    return [order, transfer] as Tool<Context>[];
  }
}

/** A tool of the SDK, which the gate has nothing to do with. */
export function noteTool() {
  return tool({
    name: "note",
    description: "Notes a text.",
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true } as never,
    strict: false,
    execute: async (input: unknown) => input,
  });
}

interface Ended {
  readonly run: {
    readonly interruptions: readonly unknown[];
    readonly state: { toString(): string };
    readonly history: AgentInputItem[];
  };
  readonly seen?: readonly Seen[];
}

function progressOf(
  { run: { interruptions, state, history }, ...streamed }: Ended,
  { turn, told }: { readonly turn: number; readonly told: Told },
): Progress {
  const paused = interruptions.length > 0;
  const kept: State = paused ? { turn, run: state.toString() } : { turn, history };
  return { state: JSON.stringify(kept), status: paused ? "paused" : "done", told, ...streamed };
}

function seenIn(event: RunStreamEvent): readonly Seen[] {
  if (event.type === "raw_model_stream_event")
    return event.data.type === "output_text_delta" ? [{ text: event.data.delta }] : [];
  if (event.type !== "run_item_stream_event" || !("callId" in event.item.rawItem)) return [];
  const callId = event.item.rawItem.callId ?? "";
  switch (event.name) {
    case "tool_called":
      return [{ call: callId }];
    case "tool_approval_requested":
      return [{ asked: callId }];
    case "tool_output":
      return [{ result: callId }];
    default:
      return [];
  }
}

type Said = AssistantMessageItem | FunctionCallItem;

/** Makes the calls when a user speaks, and answers with text when it gets results. */
export function scripted(calls: readonly ModelCall[], told: Told): Model {
  const answer = ({ input }: ModelRequest): Said[] => {
    const items = typeof input === "string" ? [] : input;
    const asked = items.findLastIndex((item) => "role" in item && item.role === "user");
    const results = items.slice(asked).filter((item) => item.type === "function_call_result");
    for (const { callId, output } of results) told[callId] = textOf(output);
    if (results.length > 0 || calls.length === 0) return [message(LAST_WORDS)];
    return calls.map(({ id, tool: name, args }) => {
      return {
        type: "function_call",
        callId: id,
        name,
        status: "completed",
        arguments: JSON.stringify(args),
      };
    });
  };
  return {
    getResponse: async (request) => ({ usage: new Usage(), output: answer(request) }),
    async *getStreamedResponse(request) {
      const said = answer(request);
      const isCalling = said.some(({ type }) => type === "function_call");
      yield { type: "response_started" };
      for (const delta of isCalling ? FIRST_WORDS : LAST_WORDS) yield { type: "output_text_delta", delta };
      const output = isCalling ? [message(FIRST_WORDS), ...said] : said;
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      yield { type: "response_done", response: { id: "r", usage, output } };
    },
  };
}

function message(parts: readonly string[]): AssistantMessageItem {
  const content = [{ type: "output_text" as const, text: parts.join("") }];
  return { type: "message", role: "assistant", status: "completed", content };
}

function textOf(output: unknown): string {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  // The SDK wraps text: what it says is what the tests read.
  return text.replaceAll('\\"', '"');
}
