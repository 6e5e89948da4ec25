import type { Content, JsonObject, JsonValue } from "../protocol/index.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import type { BeforeToolContext, HookContext, Hooks } from "./hooks.ts";
import type { ModelChunk, ModelRequest } from "./model.ts";
import {
  type ConfirmationPredicate,
  type ConfirmationRules,
  type GateContext,
  type Tool,
  type ToolOptions,
  tool,
} from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";

/** The ADK's way of making a tool from a function. */
export interface FunctionToolOptions<Args, Payload>
  extends Omit<ToolOptions<Args, Payload>, "name" | "execute" | "requireConfirmation"> {
  /** The function's own name if nothing is said. */
  readonly name?: string;
  readonly requireConfirmation?: boolean | ConfirmationPredicate<Args>;
  readonly execute: (input: Args, toolContext?: ToolContext<Payload>) => unknown;
}

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

type Awaitable<T> = T | void | Promise<T | void>;

/** The ADK's names for hooks; each is given `context` as well as what ours are given. */
export interface AdkCallbacks {
  readonly beforeAgentCallback?: (context: HookContext) => Awaitable<Content | undefined>;
  readonly afterAgentCallback?: (context: HookContext) => Awaitable<Content | undefined>;
  readonly beforeModelCallback?: (input: {
    readonly context: HookContext;
    readonly request: ModelRequest;
  }) => Awaitable<ModelChunk | undefined>;
  readonly afterModelCallback?: (input: {
    readonly context: HookContext;
    readonly response: ModelChunk;
  }) => Awaitable<ModelChunk | undefined>;
  readonly beforeToolCallback?: (input: {
    readonly tool: Tool;
    readonly args: { [key: string]: JsonValue };
    readonly context: BeforeToolContext;
  }) => Awaitable<JsonValue | undefined>;
  readonly afterToolCallback?: (input: {
    readonly tool: Tool;
    readonly args: JsonObject;
    readonly context: ToolContext;
    readonly response: JsonValue;
  }) => Awaitable<JsonValue | undefined>;
}

/** An {@link Agent} that also takes the ADK's callback names. */
export class LlmAgent extends Agent {
  constructor(options: AgentOptions & AdkCallbacks) {
    super(toAgentOptions(options));
  }
}

function toAgentOptions(options: AgentOptions & AdkCallbacks): AgentOptions {
  const {
    beforeAgentCallback,
    afterAgentCallback,
    beforeModelCallback,
    afterModelCallback,
    beforeToolCallback,
    afterToolCallback,
    ...rest
  } = options;
  const hooks: { -readonly [name in keyof Hooks]: Hooks[name] } = {};
  if (beforeAgentCallback) hooks.beforeAgent = ({ ctx }) => beforeAgentCallback(ctx);
  if (afterAgentCallback) hooks.afterAgent = ({ ctx }) => afterAgentCallback(ctx);
  if (beforeModelCallback)
    hooks.beforeModel = ({ ctx, request }) => beforeModelCallback({ context: ctx, request });
  if (afterModelCallback)
    hooks.afterModel = ({ ctx, response }) => afterModelCallback({ context: ctx, response });
  if (beforeToolCallback)
    hooks.beforeTool = ({ ctx, ...input }) => beforeToolCallback({ ...input, context: ctx });
  if (afterToolCallback) {
    hooks.afterTool = ({ ctx, result, ...input }) =>
      afterToolCallback({ ...input, context: ctx, response: result });
  }
  return { ...rest, ...hooks };
}
