import type { ConfirmationRules, GateContext } from "../../engine/index.ts";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import {
  type ConfirmationPredicate,
  type CredentialsContext,
  type Tool,
  type ToolOptions,
  tool,
} from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";

/** The ADK's way of making a tool from a function. */
export interface FunctionToolOptions<Args, Payload>
  extends Omit<ToolOptions<Args, Payload>, "name" | "execute" | "requireConfirmation"> {
  /** Default: the function's own name. */
  readonly name?: string;
  readonly requireConfirmation?: boolean | ConfirmationPredicate<Args>;
  readonly execute: (input: Args, toolContext?: ToolContext<Payload>) => unknown;
}

/** A tool made of a function. The ADK's name for `tool()`. */
export class FunctionTool<Args = JsonObject, Payload = JsonValue> implements Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters?: JsonObject;
  readonly definition: Tool["definition"];
  readonly confirmation: ConfirmationRules;
  readonly repeatable: boolean;
  readonly isLongRunning: boolean;
  readonly secrets: readonly string[];
  readonly #made: Tool;

  constructor(options: FunctionToolOptions<Args, Payload>) {
    const made = tool<Args, Payload>({ ...options, name: options.name ?? options.execute.name });
    this.name = made.name;
    this.description = made.description;
    if (made.parameters !== undefined) this.parameters = made.parameters;
    this.definition = made.definition;
    this.confirmation = made.confirmation;
    this.repeatable = made.repeatable;
    this.isLongRunning = made.isLongRunning;
    this.secrets = made.secrets;
    this.#made = made;
  }

  credentials(args: unknown, context: CredentialsContext): unknown {
    return this.#made.credentials?.(args, context);
  }

  parse(args: JsonObject): ReturnType<Tool["parse"]> {
    return this.#made.parse(args);
  }

  gates(args: unknown, context: GateContext): ReturnType<Tool["gates"]> {
    return this.#made.gates(args, context);
  }

  run(args: unknown, toolContext: ToolContext): unknown {
    return this.#made.run(args, toolContext);
  }
}
