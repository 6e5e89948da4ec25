import { ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { StructuredTool } from "@langchain/core/tools";
import { getCurrentTaskInput, interrupt, isCommand } from "@langchain/langgraph";
import { type CallerOutcome, readShape, type Shape, toldToModel } from "../../engine/index.ts";
import { CountersignError, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { FrameworkCall, ThreadGate } from "../thread-gate.ts";
import { asApproved, isSame, isToldAmended } from "../told.ts";
import type { ToolRule } from "../tool-rule.ts";
import { pauseOf } from "./pause.ts";

/** What a tool gets of the run, beside its arguments. */
export interface ToolConfig extends RunnableConfig {
  readonly toolCall?: { readonly id?: string; readonly args?: unknown };
}

interface RunManager {
  handleToolEvent?(event: unknown): Promise<void>;
}

/** The function that a tool's class overrides: LangChain calls it with parsed arguments. */
type Call = (input: unknown, manager: RunManager | undefined, config: ToolConfig) => unknown;
type Callable = StructuredTool & { readonly _call: Call };

/** The gate of a run's conversation. */
export type GateOf = (config: RunnableConfig) => { readonly gate: ThreadGate; readonly turn?: string };

interface Ran {
  readonly outcome: CallerOutcome;
  /** What the tool's function threw in this process. */
  readonly thrown?: { readonly error: unknown };
}

const NO_COMMANDS =
  "the tool ran and returned a Command, which the gate cannot store: a gated tool must return JSON or text";

/** One tool behind the gate. */
export class GatedTool {
  readonly #tool: Callable;
  readonly #rule: ToolRule<unknown>;
  readonly #gateOf: GateOf;
  readonly #shape: Shape<unknown>;

  constructor(tool: StructuredTool, at: { readonly rule: ToolRule<unknown>; readonly gateOf: GateOf }) {
    // The member is protected: only subclasses may override it, and this takes the place of one.
    this.#tool = tool as Callable;
    this.#rule = at.rule;
    this.#gateOf = at.gateOf;
    this.#shape = readShape(tool.schema as Parameters<typeof readShape>[0]);
  }

  /** The same tool, with a look into the ledger in place of its function. */
  get wrapped(): StructuredTool {
    const call: Call = (input, manager, config) => this.#call(input, manager, config);
    return Object.create(this.#tool, { _call: { value: call } }) as StructuredTool;
  }

  /**
   * Runs the call, or pauses the graph until it is answered. What the graph is resumed with is no decision: it only makes
   * the tool look into the ledger again.
   */
  async #call(input: unknown, manager: RunManager | undefined, config: ToolConfig): Promise<unknown> {
    const { gate, call, callId } = this.#identify(input, config);
    const body = (args: JsonObject): Promise<JsonValue | undefined> =>
      this.#body(isSame(args, call.args) ? undefined : args, { input, manager, config });
    for (;;) {
      const { outcome, thrown } = await run(gate, call, { body, config });
      if (!waits(outcome)) return this.#answer(outcome, callId, thrown);
      interrupt(pauseOf(outcome, { call: call.id, secret: this.#rule.secrets !== undefined }));
    }
  }

  /** What LangChain makes the model's message of. A refusal is told as an error; it does not ask to try again. */
  #answer(outcome: CallerOutcome, callId: string, thrown: Ran["thrown"]): unknown {
    const { ok, answer } = toldToModel(outcome);
    if (ok) return this.#isTuple ? tupleOf(answer) : answer;
    if (thrown !== undefined && outcome.status === "failed" && outcome.amended === undefined)
      throw thrown.error;
    const message = new ToolMessage({
      status: "error",
      name: this.#tool.name,
      tool_call_id: callId,
      content: JSON.stringify(answer),
    });
    return this.#isTuple ? [message, undefined] : message;
  }

  /** It returns what the model gets and, beside it, what the program gets. */
  get #isTuple(): boolean {
    return this.#tool.responseFormat === "content_and_artifact";
  }

  async #body(
    amended: JsonObject | undefined,
    given: {
      readonly input: unknown;
      readonly manager: RunManager | undefined;
      readonly config: ToolConfig;
    },
  ): Promise<JsonValue | undefined> {
    const { manager, config } = given;
    const input = amended === undefined ? given.input : await this.#parse(amended, given.input);
    const returned = this.#tool["_call"](input, manager, config);
    const result = isGenerator(returned) ? await lastOf(returned, manager) : await returned;
    if (isCommand(result)) return { warning: NO_COMMANDS };
    // What cannot be stored is told by the ledger.
    return (ToolMessage.isInstance(result) ? result.content : result) as JsonValue | undefined;
  }

  /** An approver's arguments, as the tool's own schema has them. */
  async #parse(args: JsonObject, asked: unknown): Promise<unknown> {
    if (!isJsonObject(asked)) return args["input"];
    const parsed = await this.#shape.parse(args);
    if (parsed.ok) return asApproved(args, parsed.value);
    throw new Error(`The approver's arguments do not fit the tool: ${parsed.field}: ${parsed.message}`);
  }

  #identify(
    input: unknown,
    config: ToolConfig,
  ): {
    readonly gate: ThreadGate;
    readonly call: FrameworkCall<unknown>;
    readonly callId: string;
  } {
    const { name, description } = this.#tool;
    const callId = config.toolCall?.id;
    if (callId === undefined)
      throw new CountersignError(
        "invalid-option",
        `The gated tool "${name}" was called without the model's call: invoke it with the call, inside a graph.`,
      );
    const { gate, turn = messageOf(callId, { name, config }) } = this.#gateOf(config);
    const { jsonSchema: schema } = this.#shape;
    const call = {
      tool: { name, description, ...(schema === undefined ? {} : { schema }) },
      rule: this.#rule,
      // A tool of one text has no object of its own.
      args: isJsonObject(input) ? input : { input },
      sent: config.toolCall?.args,
      id: `${turn}/${callId}`,
      turn,
    };
    return { gate, call, callId };
  }
}

async function run(
  gate: ThreadGate,
  call: FrameworkCall<unknown>,
  {
    body,
    config: { signal },
  }: {
    readonly body: (args: JsonObject) => Promise<JsonValue | undefined>;
    readonly config: ToolConfig;
  },
): Promise<Ran> {
  let thrown: Ran["thrown"];
  const outcome = await gate.run(
    call,
    async (args) => {
      try {
        return await body(args);
      } catch (error) {
        thrown = { error };
        throw error;
      }
    },
    signal === undefined ? {} : { signal },
  );
  return { outcome, ...(thrown === undefined ? {} : { thrown }) };
}

/** An id for the model's message that made the call: the graph stores it, and a provider may use call ids again. */
function messageOf(
  callId: string,
  { name, config }: { readonly name: string; readonly config: ToolConfig },
): string {
  const state = getCurrentTaskInput(config);
  const messages = Array.isArray(state) ? state : (state as { readonly messages?: unknown }).messages;
  const known: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const { id } = (known.findLast((each) => makes(each, callId)) ?? {}) as { readonly id?: unknown };
  if (typeof id === "string" && id !== "") return id;
  throw new CountersignError(
    "invalid-option",
    `The state has no message with an id that makes the call ${callId} of "${name}". Keep \`messages\` with LangGraph's reducer, or name the turn with \`identify\`.`,
  );
}

function makes(message: unknown, callId: string): boolean {
  const calls = (message as { readonly tool_calls?: unknown } | null)?.tool_calls;
  return Array.isArray(calls) && calls.some((call: unknown) => isJsonObject(call) && call["id"] === callId);
}

/** The result as the tool's two values; an approver's changes are told with the first. */
function tupleOf(answer: JsonValue): unknown {
  if (!isToldAmended(answer) || !isJsonObject(answer)) return answer;
  const { result } = answer;
  if (!Array.isArray(result)) return [answer, undefined];
  const [content, artifact] = result as readonly JsonValue[];
  return [{ ...answer, result: content ?? null }, artifact];
}

function waits({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "unknown";
}

function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value && "next" in value;
}

/** What a tool that reports its progress ends with. */
async function lastOf(
  values: AsyncGenerator<unknown, unknown>,
  manager: RunManager | undefined,
): Promise<unknown> {
  for (;;) {
    const { done, value } = await values.next();
    if (done === true) return value;
    await manager?.handleToolEvent?.(value);
  }
}
