import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  Runner,
  RunState,
  type Tool,
  tool,
  Usage,
} from "@openai/agents";
import { type AgentsGate, createGate } from "../../../src/adapters/openai-agents/index.ts";
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
    const result = await this.#runner.run(this.#agent(calls, told), input, { context });
    return progressOf(result, { turn, told });
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
    return progressOf(await this.#runner.run(agent, run), { turn, told });
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

interface RunOutcome {
  readonly interruptions: readonly unknown[];
  readonly state: { toString(): string };
  readonly history: AgentInputItem[];
}

function progressOf(
  { interruptions, state, history }: RunOutcome,
  { turn, told }: { readonly turn: number; readonly told: Told },
): Progress {
  const paused = interruptions.length > 0;
  const kept: State = paused ? { turn, run: state.toString() } : { turn, history };
  return { state: JSON.stringify(kept), status: paused ? "paused" : "done", told };
}

/** Makes the calls when a user speaks, and answers with text when it gets results. */
export function scripted(calls: readonly ModelCall[], told: Told): Model {
  return {
    getResponse: async ({ input }: ModelRequest) => {
      const items = typeof input === "string" ? [] : input;
      const asked = items.findLastIndex((item) => "role" in item && item.role === "user");
      const results = items.slice(asked).filter((item) => item.type === "function_call_result");
      for (const { callId, output } of results) told[callId] = textOf(output);
      if (results.length > 0 || calls.length === 0)
        return {
          usage: new Usage(),
          output: [
            {
              type: "message",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: "Done." }],
            },
          ],
        };
      return {
        usage: new Usage(),
        output: calls.map(({ id, tool: name, args }) => {
          return {
            type: "function_call",
            callId: id,
            name,
            status: "completed",
            arguments: JSON.stringify(args),
          } as const;
        }),
      };
    },
    getStreamedResponse: () => {
      throw new Error("It does not stream.");
    },
  };
}

function textOf(output: unknown): string {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  // The SDK wraps text: what it says is what the tests read.
  return text.replaceAll('\\"', '"');
}
