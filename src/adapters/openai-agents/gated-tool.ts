import type { RunContext } from "@openai/agents";
import { type CallerOutcome, readShape, type Shape, toldToModel } from "../../engine/index.ts";
import { CountersignError, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { FrameworkCall, ThreadGate } from "../thread-gate.ts";
import { asApproved, isSame } from "../told.ts";
import type { ToolRule } from "../tool-rule.ts";

interface CallDetails {
  readonly toolCall?: { readonly callId: string; readonly arguments: string };
  readonly signal?: AbortSignal;
}

type Execute = (input: unknown, context?: RunContext, details?: CallDetails) => unknown;
type NeedsApproval = (context: RunContext, input: unknown, callId?: string) => Promise<boolean>;
type ErrorFunction = (context: RunContext, error: unknown, details?: unknown) => unknown;

/** The part of the SDK's options of a tool that is read or replaced here. */
export interface AnyToolOptions {
  readonly name?: string;
  readonly description: string;
  readonly parameters?: Parameters<typeof readShape>[0];
  readonly execute: Execute;
  readonly needsApproval?: boolean | NeedsApproval;
  readonly errorFunction?: ErrorFunction | null;
  readonly outputSchema?: unknown;
}

/** The part of a tool of the SDK that is used or replaced here. */
export interface AnyFunctionTool {
  readonly needsApproval: NeedsApproval;
  readonly invoke: (context: RunContext, text: string, details?: CallDetails) => Promise<unknown>;
}

/** What the SDK tells of a call when it asks whether somebody must approve it. */
interface Asking {
  readonly context: RunContext;
  readonly sent: unknown;
  readonly callId: string | undefined;
}

/** The gate of a run's conversation. */
export type ThreadOf = (context: unknown) => { readonly gate: ThreadGate; readonly turn: string };

/** The SDK's default tells the model to try again, which is wrong for a call that people decide about. */
const FAILED = "An error occurred while running the tool.";

/** One tool behind the gate: the same options, with a look into the ledger in place of its function. */
export class GatedTool {
  readonly #given: AnyToolOptions;
  readonly #rule: ToolRule<unknown>;
  readonly #threadOf: ThreadOf;
  readonly #shape: Shape<unknown>;

  constructor(given: AnyToolOptions, at: { readonly rule: ToolRule<unknown>; readonly threadOf: ThreadOf }) {
    this.#given = given;
    this.#rule = at.rule;
    this.#threadOf = at.threadOf;
    this.#shape = readShape(given.parameters);
  }

  /**
   * The tool. The SDK shows what the model sent only of tools whose `invoke` it has not made: of its own, `needsApproval`
   * gets what the schema has made of it.
   */
  made(make: (options: AnyToolOptions) => AnyFunctionTool): AnyFunctionTool {
    const { outputSchema: _output, needsApproval: _asked, ...given } = this.#given;
    const name = this.#name;
    const gated = make({
      ...this.#given,
      name,
      execute: (input, context, details) => this.#execute(input, context, details),
      errorFunction: (context, error, details) => this.#failed(context, error, details),
    });
    const parsing = make({ ...given, name, execute: (input) => input, errorFunction: null });
    return {
      ...gated,
      needsApproval: (context, sent, callId) => this.#needsApproval({ context, sent, callId }, parsing),
      invoke: (context, text, details) => gated.invoke(context, text, details),
    };
  }

  // Asks the ledger. A state that says that somebody approved is not believed: the function looks again.
  async #needsApproval({ context, sent, callId }: Asking, parsing: AnyFunctionTool): Promise<boolean> {
    let input: unknown;
    try {
      input = await parsing.invoke(context, JSON.stringify(sent));
    } catch {
      // There is nothing to ask about: the SDK tells the model that they do not fit the tool.
      return false;
    }
    const { gate, call } = this.#call({ input, sent }, context, callId);
    try {
      return waits(await gate.propose(call));
    } catch (error) {
      // It is another call now: the function finds that out too, and stops the run.
      if (CountersignError.isInstance(error) && error.code === "key-reused") return false;
      throw error;
    }
  }

  async #execute(input: unknown, context?: RunContext, details: CallDetails = {}): Promise<unknown> {
    const { toolCall, signal } = details;
    const given = { input, sent: sentIn(toolCall?.arguments) };
    const { gate, call } = this.#call(given, context, toolCall?.callId);
    let thrown: { readonly error: unknown } | undefined;
    const outcome = await gate.run(
      call,
      async (args) => {
        try {
          const value = isSame(args, input) ? input : await this.#parse(args);
          return (await this.#given.execute(value, context, details)) as JsonValue | undefined;
        } catch (error) {
          thrown = { error };
          throw error;
        }
      },
      signal === undefined ? {} : { signal },
    );
    if (waits(outcome)) throw stillWaits(outcome);
    if (outcome.status === "failed" && outcome.amended === undefined && thrown !== undefined)
      throw thrown.error;
    return toldToModel(outcome).answer;
  }

  async #failed(context: RunContext, error: unknown, details?: unknown): Promise<unknown> {
    // The run must stop, and stays where it was: the model must not go on without the answer.
    if (CountersignError.isInstance(error)) throw error;
    const { errorFunction } = this.#given;
    if (errorFunction === null) throw error;
    if (errorFunction !== undefined) return errorFunction(context, error, details);
    return `${FAILED} ${error instanceof Error ? error.message : String(error)}`;
  }

  /** An approver's arguments, as the tool's own schema has them. */
  async #parse(args: JsonObject): Promise<unknown> {
    const parsed = await this.#shape.parse(args);
    if (parsed.ok) return asApproved(args, parsed.value);
    throw new Error(`The approver's arguments do not fit the tool: ${parsed.field}: ${parsed.message}`);
  }

  #call(
    { input, sent }: { readonly input: unknown; readonly sent: unknown },
    context: RunContext | undefined,
    callId: string | undefined,
  ): { readonly gate: ThreadGate; readonly call: FrameworkCall<unknown> } {
    const name = this.#name;
    const { description } = this.#given;
    if (context === undefined || callId === undefined)
      throw new CountersignError("invalid-option", `The gated tool "${name}" was called without a run.`);
    const { gate, turn } = this.#threadOf(context.context);
    const { jsonSchema: schema } = this.#shape;
    const call = {
      tool: { name, description, ...(schema === undefined ? {} : { schema }) },
      rule: this.#ruleAt(context, callId),
      args: input,
      sent,
      id: `${turn}/${callId}`,
      turn,
    };
    return { gate, call };
  }

  get #name(): string {
    return this.#given.name ?? this.#given.execute.name;
  }

  // Without a rule of its own the tool is asked about as its author says.
  #ruleAt(context: RunContext, callId: string): ToolRule<unknown> {
    const { needsApproval } = this.#given;
    if (this.#rule.requireConfirmation !== undefined || typeof needsApproval !== "function")
      return this.#rule;
    return { ...this.#rule, requireConfirmation: (input) => needsApproval(context, input, callId) };
  }
}

/** What the model sent. The SDK has parsed it already. */
function sentIn(text = "{}"): unknown {
  return JSON.parse(text === "" ? "{}" : text) as unknown;
}

function waits({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "unknown";
}

function stillWaits({ key, message }: CallerOutcome): CountersignError {
  return new CountersignError("not-claimable", `The call ${key} cannot continue: ${message}`, {
    details: { hint: "Run the state again when `resume(state)` says that it is ready." },
  });
}
