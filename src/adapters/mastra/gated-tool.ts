import { type CallerOutcome, readShape, type Shape } from "../../engine/index.ts";
import { CountersignError, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import type { FrameworkCall, ThreadGate } from "../thread-gate.ts";
import { answerOrThrow, isSame, isToldAmended, toBeParsed } from "../told.ts";
import type { ToolRule } from "../tool-rule.ts";
import type { AnyTool, AvailableInput, MastraContext } from "./host-types.ts";
import { SentInputs } from "./sent-inputs.ts";

type AgentContext = NonNullable<MastraContext["agent"]>;

/** Where a call was made. */
interface Place {
  readonly agent: AgentContext;
  readonly runId: string;
}

/** What a gated tool is given beside the tool. */
export interface GatedToolOptions {
  /** The name by which the model calls it. */
  readonly name: string;
  readonly rule: ToolRule<unknown>;
  readonly gateOf: (agent: AgentContext) => ThreadGate;
}

/** One tool behind the gate: the same tool, with a look into the ledger in place of its function. */
export class GatedTool {
  readonly #tool: AnyTool;
  readonly #options: GatedToolOptions;
  readonly #shape: Shape<unknown> | undefined;
  readonly #sent = new SentInputs();

  constructor(tool: AnyTool, options: GatedToolOptions) {
    this.#tool = tool;
    this.#options = options;
    // Mastra makes a Standard Schema of whatever the author gave.
    if (isStandardSchema(tool.inputSchema)) this.#shape = readShape(tool.inputSchema);
  }

  get wrapped(): AnyTool {
    const { toModelOutput, onInputAvailable } = this.#tool;
    const copy = Object.assign(
      Object.create(Object.getPrototypeOf(this.#tool) as object | null),
      this.#tool,
      {
        execute: (input: unknown, context: MastraContext) => this.#execute(input, context),
        onInputAvailable: async (available: AvailableInput) => {
          this.#sent.keep(available);
          await onInputAvailable?.(available);
        },
        // The gate asks, and takes whatever it is resumed with for "look again".
        requireApproval: false,
        needsApprovalFn: undefined,
        suspendSchema: undefined,
        resumeSchema: undefined,
        ...(toModelOutput === undefined ? {} : { toModelOutput: tellingAmended(toModelOutput) }),
      },
    ) as AnyTool;
    return copy;
  }

  async #execute(input: unknown, context: MastraContext): Promise<JsonValue | undefined> {
    const place = this.#placeOf(context);
    const { agent } = place;
    const gate = this.#options.gateOf(agent);
    const isResumed = agent.resumeData !== undefined && agent.resumeData !== null;
    const call = await this.#call(input, context, { ...place, isResumed });
    let thrown: { readonly error: unknown } | undefined;
    const { abortSignal } = context;
    const suspend = agent.suspend.bind(agent);
    const outcome = await gate.run(
      call,
      async (approved) => {
        try {
          const given =
            !isResumed && isSame(approved, call.args) ? input : await this.#approved(approved, input);
          const at = isResumed || given !== input ? afresh(context, place) : context;
          Object.assign(at.agent ?? {}, { suspend: refuseToSuspend });
          return (await this.#tool.execute?.(given, at)) as JsonValue | undefined;
        } catch (error) {
          thrown = { error };
          throw error;
        }
      },
      abortSignal === undefined ? {} : { signal: abortSignal },
    );
    if (!waits(outcome)) return answerOrThrow(outcome, thrown);
    const { confirmation, message, key } = outcome;
    await suspend({ message: confirmation?.hint ?? message, call: key });
    return undefined;
  }

  get #name(): string {
    return this.#options.name;
  }

  #placeOf({ agent, runId }: MastraContext): Place {
    if (agent === undefined || runId === undefined)
      throw new CountersignError("invalid-option", `Only an agent can call the gated tool "${this.#name}".`);
    return { agent, runId };
  }

  async #call(
    input: unknown,
    context: MastraContext,
    { runId, agent: { toolCallId }, isResumed }: Place & { readonly isResumed: boolean },
  ): Promise<FrameworkCall<unknown>> {
    const schema = this.#shape?.jsonSchema;
    return {
      tool: {
        name: this.#name,
        description: this.#tool.description,
        ...(schema === undefined ? {} : { schema }),
      },
      rule: this.#ruleAt(context),
      // Mastra parses the model's arguments for a first call only.
      args: isResumed ? await this.#parse(input) : input,
      sent: isResumed ? input : this.#sent.of(runId, toolCallId),
      id: idOf(runId, toolCallId),
      turn: runId,
      // A message must not raise a question, nor start a call that nobody was asked about.
      isResumed,
    };
  }

  // Without a rule of its own the tool is asked about as its author says.
  #ruleAt({ requestContext, workspace }: MastraContext): ToolRule<unknown> {
    const { requireApproval } = this.#tool;
    const { rule } = this.#options;
    if (rule.requireConfirmation !== undefined || typeof requireApproval !== "function") return rule;
    return {
      ...rule,
      requireConfirmation: async (input) => requireApproval(input, { requestContext, workspace }),
    };
  }

  async #parse(input: unknown): Promise<unknown> {
    if (this.#shape === undefined) return input;
    const parsed = await this.#shape.parse(input);
    if (parsed.ok) return parsed.value;
    throw new Error(`The arguments of ${this.#name} do not fit it: ${parsed.field}: ${parsed.message}`);
  }

  #approved(args: JsonObject, input: unknown): Promise<unknown> {
    return toBeParsed(args, input, (given) => this.#parse(given));
  }
}

/** The id of a call: a model may use a call's id again in another run. */
export function idOf(runId: string, toolCallId: string): string {
  return `${runId}/${toolCallId}`;
}

/** Is there no answer yet, or none that anybody knows? */
export function waits({ status }: CallerOutcome): boolean {
  return status === "pending" || status === "unknown";
}

/** The context of a first call, in which the tool parses its input. */
function afresh(context: MastraContext, { agent }: Place): MastraContext {
  return { ...context, agent: { ...agent, resumeData: undefined } };
}

/** What the tool returns is stored as its result, and it is not started again. */
async function refuseToSuspend(): Promise<never> {
  throw new Error("A gated tool cannot suspend: the gate asks before it runs.");
}

/** The author's conversion, of results that the author knows. */
function tellingAmended(toModelOutput: (output: unknown) => unknown): (output: unknown) => unknown {
  return (output) => (isToldAmended(output) ? { type: "json", value: output } : toModelOutput(output));
}

function isStandardSchema(value: unknown): value is NonNullable<Parameters<typeof readShape>[0]> {
  return (typeof value === "object" || typeof value === "function") && value !== null && "~standard" in value;
}
