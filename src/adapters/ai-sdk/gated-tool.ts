import {
  asSchema,
  type ModelMessage,
  type Tool,
  type ToolApprovalStatus,
  type ToolExecutionOptions,
} from "ai";
import type { CallerOutcome } from "../../engine/index.ts";
import { CountersignError, isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { withAdded } from "../sent-members.ts";
import type { FrameworkCall, ThreadGate } from "../thread-gate.ts";
import { answerOrThrow, asApproved, isSame, isToldAmended } from "../told.ts";
import type { ToolRule } from "../tool-rule.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import { isResumed, lastResponses, openRequests } from "./messages.ts";
import { occurrenceIn } from "./trusted-messages.ts";

/** What the AI SDK tells of a call when it asks whether it needs approval. */
export interface ApprovalOptions {
  readonly toolCallId: string;
  readonly messages: ModelMessage[];
  readonly toolContext?: unknown;
}

type Executing = ToolExecutionOptions<unknown>;
type Place = Pick<Executing, "toolCallId" | "messages"> & { readonly context?: unknown };

/** One tool behind the gate. */
export class GatedTool {
  readonly #gate: ThreadGate;
  readonly #name: string;
  readonly #tool: Tool;
  readonly #rule: ToolRule<unknown>;
  readonly #gated: ReadonlyMap<string, GatedTool>;

  constructor(
    gate: ThreadGate,
    given: {
      readonly name: string;
      readonly tool: Tool;
      readonly rule: ToolRule<unknown>;
      /** All tools of the conversation that are gated. */
      readonly gated: ReadonlyMap<string, GatedTool>;
    },
  ) {
    this.#gate = gate;
    this.#name = given.name;
    this.#tool = given.tool;
    this.#rule = given.rule;
    this.#gated = given.gated;
  }

  /** The tool, with a look into the ledger in place of its function. */
  get wrapped(): Tool {
    const { needsApproval: _asked, toModelOutput, ...tool } = this.#tool;
    return {
      ...tool,
      execute: (input: unknown, options: Executing) => this.#execute(input, options),
      ...(toModelOutput === undefined ? {} : { toModelOutput: tellingAmended(toModelOutput) }),
    };
  }

  /**
   * Whether the call waits for a person. The AI SDK asks when the model makes the call, and again when a client says that
   * it was approved: then only the ledger counts, and whatever is not decided there stops the run.
   */
  async approval(input: unknown, options: ApprovalOptions): Promise<ToolApprovalStatus> {
    const { toolCallId, messages, toolContext: context } = options;
    const call = await this.#call(input, { toolCallId, messages, context });
    if (call.isResumed === true) return this.#resumed(call, messages);
    try {
      return firstStatus(await this.#gate.propose(call));
    } catch (error) {
      // The model is told, and may do something else.
      if (CountersignError.isInstance(error)) return { type: "denied", reason: error.message };
      throw error;
    }
  }

  /**
   * What the AI SDK parses again when the approved call is resumed, which must give the same input. A default that is
   * another one each time does not: then the call's own values are sent along.
   */
  async sameAgain(sent: unknown, input: unknown): Promise<unknown> {
    const result = await asSchema(this.#tool.inputSchema).validate?.(sent);
    if (result === undefined || !isJsonObject(input)) return sent;
    if (result.success && isSame(input, result.value)) return sent;
    return withAdded(sent as JsonValue, input);
  }

  async #resumed(
    call: FrameworkCall<unknown>,
    messages: readonly ModelMessage[],
  ): Promise<ToolApprovalStatus> {
    const answered = new Set(lastResponses(messages).map(({ approvalId }) => approvalId));
    const missing = openRequests(messages).find(
      ({ toolName, approvalId }) => this.#gated.has(toolName) && !answered.has(approvalId),
    );
    if (missing !== undefined)
      throw stillWaits(missing.toolCallId, "Another call of the turn has no answer yet.");
    const proposed = await this.#gate.propose(call);
    // Its process may be lost: then it is unknown.
    const outcome = (proposed.status === "executing" && (await this.#gate.find(call))) || proposed;
    const { status, message: reason } = outcome;
    if (status === "pending" || status === "unknown") throw stillWaits(call.id, reason);
    return isRefused(outcome) ? { type: "denied", reason } : { type: "approved" };
  }

  async #execute(input: unknown, options: Executing): Promise<JsonValue> {
    const call = await this.#call(input, options);
    const { abortSignal } = options;
    let thrown: { readonly error: unknown } | undefined;
    const outcome = await this.#gate.run(
      call,
      async (args) => {
        try {
          return await this.#body(args, input, options);
        } catch (error) {
          thrown = { error };
          throw error;
        }
      },
      abortSignal === undefined ? {} : { signal: abortSignal },
    );
    return answerOrThrow(outcome, thrown);
  }

  async #body(args: JsonObject, input: unknown, options: Executing): Promise<JsonValue | undefined> {
    const value = isSame(args, input) ? input : await this.#parse(args);
    const result: unknown = await this.#tool.execute?.(value, options);
    // What cannot be stored is told by the ledger.
    return (isAsyncIterable(result) ? await lastOf(result) : result) as JsonValue | undefined;
  }

  /** An approver's arguments, as the tool's own schema has them. */
  async #parse(args: JsonObject): Promise<unknown> {
    const result = await asSchema(this.#tool.inputSchema).validate?.(args);
    if (result === undefined) return args;
    if (result.success) return asApproved(args, result.value);
    throw new Error(`The approver's arguments do not fit the tool: ${result.error.message}`, {
      cause: result.error,
    });
  }

  async #call(input: unknown, place: Place): Promise<FrameworkCall<unknown>> {
    const { toolCallId, messages } = place;
    const { description, inputSchema } = this.#tool;
    const schema = await jsonSchemaOf(inputSchema);
    return {
      tool: {
        name: this.#name,
        ...(typeof description === "string" ? { description } : {}),
        ...(schema === undefined ? {} : { schema }),
      },
      rule: this.#ruleAt(place),
      args: input,
      id: toolCallId,
      occurrence: await occurrenceIn(this.#gate, messages, toolCallId),
      turn: `${this.#gate.nonce}.${messages.length}`,
      // A message must not raise a question, nor start a call that the model did not make. If the call has ended since it
      // was looked up, this one would be the next with its id.
      isResumed: isResumed(messages, toolCallId),
    };
  }

  // Without a rule of its own the tool is asked about as its author says.
  #ruleAt({ toolCallId, messages, context }: Place): ToolRule<unknown> {
    const { needsApproval } = this.#tool;
    if (this.#rule.requireConfirmation !== undefined || typeof needsApproval !== "function")
      return this.#rule;
    const options = { toolCallId, messages, context };
    return { ...this.#rule, requireConfirmation: async (input) => needsApproval(input, options) };
  }
}

function firstStatus(outcome: CallerOutcome): ToolApprovalStatus {
  const { status, message, confirmation } = outcome;
  if (status === "pending") return { type: "user-approval", reason: confirmation?.hint ?? message };
  if (status === "unknown") return { type: "user-approval", reason: message };
  return isRefused(outcome) ? { type: "denied", reason: message } : "not-applicable";
}

function isRefused({ status }: CallerOutcome): boolean {
  return status === "denied" || status === "expired" || status === "cancelled";
}

function stillWaits(id: string, why: string): CountersignError {
  return new CountersignError("not-claimable", `The call ${id} cannot continue: ${why}`, {
    details: { hint: "Resume when every call of the turn has its answer; `resume(messages)` says when." },
  });
}

type ToModelOutput = NonNullable<Tool["toModelOutput"]>;

/** The author's conversion, of results that the author knows. */
function tellingAmended(toModelOutput: ToModelOutput): ToModelOutput {
  return (options) =>
    isToldAmended(options.output)
      ? { type: "json", value: options.output as JsonValue }
      : toModelOutput(options);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** What a tool that reports its progress ends with. */
async function lastOf(values: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const value of values) last = value;
  return last;
}
