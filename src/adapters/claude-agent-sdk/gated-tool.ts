import { CountersignError, isJsonObject, type JsonObject, member } from "../../protocol/index.ts";
import { approvedArgs, type ToolResult, ToolRun } from "../mcp-result.ts";
import type { FrameworkCall, ThreadGate } from "../thread-gate.ts";
import { asApproved } from "../told.ts";
import type { ToolRule } from "../tool-rule.ts";
import type { SdkTool } from "./host-types.ts";
import { jsonSchemaOf, type Parsed, parseRawShape } from "./raw-shape.ts";

const ADVICE = "The run stays paused until then. Do not use the tool again for the same purpose.";
const NO_ID = "This tool is behind a gate and runs only for a tool use of the model.";
const NO_HOOK =
  "This tool did not run, and nobody was asked: the gate's hook is not installed for it. The host must give `gate.hooks` to `query`, and the server the name that `gate.tool` has.";

type Call = FrameworkCall<JsonObject>;

/** A tool of this process behind the gate. */
export class GatedTool {
  readonly #gate: ThreadGate;
  readonly #definition: SdkTool;
  readonly #rule: ToolRule<JsonObject>;
  #schema: Promise<JsonObject> | undefined;
  /** What the model sent, by the id of its tool use: the hook sees it, the handler only what the SDK made of it. */
  readonly #sent = new Map<string, unknown>();

  constructor(gate: ThreadGate, definition: SdkTool, rule: ToolRule<JsonObject>) {
    this.#gate = gate;
    this.#definition = definition;
    this.#rule = rule;
  }

  parse(input: unknown): Promise<Parsed> {
    return parseRawShape(this.#definition.inputSchema, input);
  }

  /** The call of a tool use that the hook was shown. */
  async used(args: JsonObject, { id, sent }: { readonly id: string; readonly sent: unknown }): Promise<Call> {
    this.#sent.set(id, sent);
    return this.#call(args, id);
  }

  async #call(args: JsonObject, id: string): Promise<Call> {
    const { name, description, inputSchema } = this.#definition;
    const schema = await (this.#schema ??= jsonSchemaOf(inputSchema));
    return {
      tool: { name, description, schema },
      rule: this.#rule,
      args,
      sent: this.#sent.get(id),
      id,
      turn: id,
    };
  }

  /**
   * In place of the author's function: a look into the ledger. The hook has put the call there. Without the hook nothing
   * pauses the run, so that nobody is asked: an approval would come too late to run anything.
   */
  async handle(args: JsonObject, extra: unknown): Promise<ToolResult> {
    const id = toolUseIn(extra);
    if (id === undefined) return refusal(NO_ID);
    const run = new ToolRun(async (approved) =>
      this.#definition.handler(
        (await approvedArgs(approved, args, (changed) => this.#parseAgain(changed))) as never,
        extra,
      ),
    );
    const call = { ...(await this.#call(args, id)), isResumed: true };
    const running = this.#gate.run(call, (approved) => run.body(approved), signalIn(extra));
    const outcome = await running.catch((error: unknown) => {
      if (CountersignError.isInstance(error) && error.code === "unknown-call") return undefined;
      throw error;
    });
    return outcome === undefined ? refusal(NO_HOOK) : run.answer(outcome, ADVICE);
  }

  async #parseAgain(args: JsonObject): Promise<unknown> {
    const parsed = await this.parse(args);
    if (parsed.ok) return asApproved(args, parsed.args);
    throw new Error(`The approver's arguments do not fit the tool: ${parsed.message}`);
  }
}

function refusal(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

function toolUseIn(extra: unknown): string | undefined {
  const { _meta: meta } = (extra ?? {}) as { readonly _meta?: unknown };
  const id = isJsonObject(meta) ? member(meta, "claudecode/toolUseId") : undefined;
  return typeof id === "string" && id !== "" ? id : undefined;
}

function signalIn(extra: unknown): { readonly signal?: AbortSignal } {
  const { signal } = (extra ?? {}) as { readonly signal?: AbortSignal };
  return signal === undefined ? {} : { signal };
}
