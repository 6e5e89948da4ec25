import { type CallerOutcome, errorText, readShape, type Shape, toldToModel } from "../../engine/index.ts";
import { CountersignError, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { FrameworkCall, ThreadGate } from "../thread-gate.ts";
import { toBeParsed } from "../told.ts";
import type { ToolRule } from "../tool-rule.ts";
import { lastAnswered, openRequests, placeOf } from "./events.ts";
import type { AdkSession, AdkTool, AdkToolContext } from "./host-types.ts";
import { jsonSchemaOf } from "./json-schema.ts";
import type { KeptAnswers } from "./kept-answers.ts";

type Args = Record<string, unknown>;
type Request = Parameters<AdkTool["runAsync"]>[0];

/** What a gated tool is given beside the tool. */
export interface GatedToolOptions {
  /** Without one the tool is asked about as its author says. */
  readonly rule?: ToolRule<unknown>;
  /** Every tool passes the gate. */
  readonly hasPolicy: boolean;
  readonly gateOf: (session: AdkSession, agent?: string) => ThreadGate;
  readonly kept: KeptAnswers;
}

/** One tool behind the gate: the same tool, with a look into the ledger in place of its function. */
export class GatedTool<Tool extends AdkTool> {
  readonly #tool: Tool;
  readonly #options: GatedToolOptions;
  /** Set if the schema changes values, for example by defaults. */
  readonly #shape: Shape<unknown> | undefined;
  #schema: { readonly of: JsonObject | undefined } | undefined;

  constructor(tool: Tool, options: GatedToolOptions) {
    this.#tool = tool;
    this.#options = options;
    // Private in the ADK's types. What it is missing from is judged by the model's own arguments.
    const parameters: unknown = Reflect.get(tool, "parameters");
    if (isStandardSchema(parameters)) this.#shape = readShape(parameters);
  }

  get wrapped(): Tool {
    const runAsync = (request: Request): Promise<unknown> => this.#runAsync(request);
    const checkRequireConfirmation = (args: Args, context?: AdkToolContext): Promise<boolean> =>
      this.#check(args, context);
    // Everything else is the tool's, also what a later version of the ADK may ask for.
    return Object.create(this.#tool, {
      runAsync: { value: runAsync },
      checkRequireConfirmation: { value: checkRequireConfirmation },
    }) as Tool;
  }

  /**
   * The ADK asks this when a message says that somebody has answered, before it runs anything. Only the ledger counts:
   * whatever is not decided there stops the run, and the session stays where it was.
   */
  async #check(args: Args, context?: AdkToolContext): Promise<boolean> {
    if (context?.functionCallId === undefined || !(await this.#isGated(args, context, true)))
      return this.#tool.checkRequireConfirmation(args, context);
    const { gate, call } = await this.#call(args, context);
    await this.#checkAnswered(gate, context.invocationContext.session);
    let outcome = await gate.propose({ ...call, isResumed: true });
    if (outcome.status === "executing") outcome = await gate.finished(call, waitOf(context));
    if (waits(outcome)) throw stillWaits(outcome);
    return true;
  }

  async #runAsync({ args, toolContext }: Request): Promise<unknown> {
    const { kept } = this.#options;
    const { name } = this.#tool;
    try {
      const isResumed = toolContext.toolConfirmation !== undefined;
      const answer = (await this.#isGated(args, toolContext, isResumed))
        ? await this.#gated(args, toolContext)
        : { value: await this.#tool.runAsync({ args, toolContext }) };
      if (answer === undefined) return waitingAnswer(toolContext, kept);
      kept.answered(name, answer.value, toolContext);
      return answer.value;
    } catch (error) {
      kept.answered(name, { error: errorText(error) }, toolContext);
      throw error;
    }
  }

  /** The answer, or none while the call waits. */
  async #gated(args: Args, toolContext: AdkToolContext): Promise<{ readonly value: unknown } | undefined> {
    const { gate, call } = await this.#call(args, toolContext);
    const isResumed = toolContext.toolConfirmation !== undefined;
    let thrown: { readonly error: unknown } | undefined;
    const outcome = await gate.run(
      // A message must not raise a question, nor start a call that nobody was asked about.
      { ...call, isResumed },
      async (approved) => {
        try {
          return await this.#body(await this.#approved(approved, args), toolContext);
        } catch (error) {
          thrown = { error };
          throw error;
        }
      },
      waitOf(toolContext),
    );
    if (waits(outcome) && !isResumed) {
      toolContext.requestConfirmation({ hint: outcome.confirmation?.hint ?? outcome.message });
      return undefined;
    }
    // Somebody started it after it was looked up, and is gone: the model is told, and not asked to go on.
    if (waits(outcome)) toolContext.invocationContext.endInvocation = true;
    if (outcome.status === "failed" && outcome.amended === undefined && thrown !== undefined)
      throw thrown.error;
    return { value: toldToModel(outcome).answer };
  }

  async #body(args: Args, toolContext: AdkToolContext): Promise<JsonValue | undefined> {
    // The tool's own gate: the ledger has answered it.
    toolContext.toolConfirmation = { hint: "", confirmed: true };
    return (await this.#tool.runAsync({ args, toolContext })) as JsonValue | undefined;
  }

  // Fails closed: a tool whose own rule fails is asked about. A call that was asked about stays the ledger's, whatever
  // the rule says later; the ADK runs it only as one that was answered.
  async #isGated(args: Args, context: AdkToolContext, isResumed: boolean): Promise<boolean> {
    const { rule, hasPolicy } = this.#options;
    if (rule !== undefined || hasPolicy || (isResumed && (await this.#isKnown(context)))) return true;
    try {
      return await this.#tool.checkRequireConfirmation(args, context);
    } catch {
      return true;
    }
  }

  async #isKnown({ functionCallId, invocationContext: { session } }: AdkToolContext): Promise<boolean> {
    const place = functionCallId === undefined ? undefined : placeOf(session.events, functionCallId);
    return (
      place !== undefined && (await this.#options.gateOf(session).find({ id: idOf(place) })) !== undefined
    );
  }

  /** The model must not go on while another call of its turn waits. */
  async #checkAnswered(gate: ThreadGate, { events }: AdkSession): Promise<void> {
    const answered = new Set(lastAnswered(events));
    for (const request of openRequests(events)) {
      if (answered.has(request.id)) continue;
      const outcome = await gate.find({ id: idOf(request) });
      if (outcome !== undefined) throw stillWaits(outcome);
    }
  }

  async #call(
    raw: Args,
    context: AdkToolContext,
  ): Promise<{ readonly gate: ThreadGate; readonly call: FrameworkCall<unknown> }> {
    const { name, description } = this.#tool;
    const { functionCallId, agentName, invocationContext } = context;
    const { session } = invocationContext;
    const place = functionCallId === undefined ? undefined : placeOf(session.events, functionCallId);
    if (place === undefined)
      throw new CountersignError(
        "invalid-option",
        `The gated tool "${name}" was called outside of its session.`,
      );
    const schema = this.#jsonSchema;
    const call = {
      tool: { name, description, ...(schema === undefined ? {} : { schema }) },
      rule: this.#ruleAt(raw, context),
      args: await this.#parsed(raw),
      sent: raw,
      id: idOf(place),
      turn: place.event,
    };
    return { gate: this.#options.gateOf(session, agentName), call };
  }

  get #jsonSchema(): JsonObject | undefined {
    // oxlint-disable-next-line no-underscore-dangle -- the ADK's own name, public in its types
    this.#schema ??= { of: this.#shape?.jsonSchema ?? jsonSchemaOf(this.#tool._getDeclaration() ?? {}) };
    return this.#schema.of;
  }

  // Without a rule of its own the tool is asked about as its author says.
  #ruleAt(raw: Args, context: AdkToolContext): ToolRule<unknown> {
    const { rule } = this.#options;
    const own = (): Promise<boolean> => this.#tool.checkRequireConfirmation(raw, context);
    if (rule === undefined) return { requireConfirmation: own };
    const hasPredicate = typeof Reflect.get(this.#tool, "requireConfirmation") === "function";
    return rule.requireConfirmation === undefined && hasPredicate
      ? { ...rule, requireConfirmation: own }
      : rule;
  }

  /** The model's arguments, as the tool's own schema has them. */
  async #parsed(raw: Args): Promise<unknown> {
    if (this.#shape === undefined) return raw;
    const parsed = await this.#shape.parse(raw);
    if (parsed.ok) return parsed.value;
    throw new Error(`Error in tool '${this.#tool.name}': ${parsed.field}: ${parsed.message}`);
  }

  #approved(approved: JsonObject, raw: Args): Promise<Args> {
    return toBeParsed(approved, raw, (given) => this.#parsed(given));
  }
}

/** The id of a call: event ids are the session's, while a model may use a call's id again. */
export function idOf({ event, callId }: { readonly event: string; readonly callId: string }): string {
  return `${event}/${callId}`;
}

/** Is there no answer yet, or none that anybody knows? */
export function waits({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "unknown";
}

/** What the ADK puts in place of an answer; the model does not hear it. */
function waitingAnswer(context: AdkToolContext, kept: KeptAnswers): unknown {
  context.actions.skipSummarization = true;
  kept.paused(context);
  return { error: "This tool call waits for a person's approval." };
}

function waitOf({ abortSignal }: AdkToolContext): { readonly signal?: AbortSignal } {
  return abortSignal === undefined ? {} : { signal: abortSignal };
}

function stillWaits({ key, message }: CallerOutcome): CountersignError {
  return new CountersignError("not-claimable", `The call ${key} cannot continue: ${message}`, {
    details: { hint: "Run the session again with the message of `resume(session)`, when it is ready." },
  });
}

function isStandardSchema(value: unknown): value is NonNullable<Parameters<typeof readShape>[0]> {
  return typeof value === "object" && value !== null && "~standard" in value;
}
