import type { Content, JsonObject, JsonValue } from "../../protocol/index.ts";
import type { ModelChunk, ModelRequest } from "../models/index.ts";
import type { Tool, ToolContext } from "../tools/index.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import type { BeforeToolContext, HookContext, Hooks } from "./hooks.ts";

type Awaitable<T> = T | void | Promise<T | void>;

/** One callback, or several that are called in order: the first returned value wins. */
type Callbacks<Input, Value> =
  | ((input: Input) => Awaitable<Value | undefined>)
  | readonly ((input: Input) => Awaitable<Value | undefined>)[];

/** Asks each in order until one gives a value. */
function inOrder<Input, Value>(
  callbacks: Callbacks<Input, Value>,
): (input: Input) => Promise<Value | undefined> {
  return async (input) => {
    for (const callback of typeof callbacks === "function" ? [callbacks] : callbacks) {
      const value = await callback(input);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/** The ADK's names for hooks; each also gets `context`. */
export interface AdkCallbacks {
  readonly beforeAgentCallback?: Callbacks<HookContext, Content>;
  readonly afterAgentCallback?: Callbacks<HookContext, Content>;
  readonly beforeModelCallback?: Callbacks<
    { readonly context: HookContext; readonly request: ModelRequest },
    ModelChunk
  >;
  readonly afterModelCallback?: Callbacks<
    { readonly context: HookContext; readonly response: ModelChunk },
    ModelChunk
  >;
  readonly beforeToolCallback?: Callbacks<
    {
      readonly tool: Tool;
      readonly args: { [key: string]: JsonValue };
      readonly context: BeforeToolContext;
    },
    JsonValue
  >;
  readonly afterToolCallback?: Callbacks<
    {
      readonly tool: Tool;
      readonly args: JsonObject;
      readonly context: ToolContext;
      readonly response: JsonValue;
    },
    JsonValue
  >;
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
  if (beforeAgentCallback) hooks.beforeAgent = ({ ctx }) => inOrder(beforeAgentCallback)(ctx);
  if (afterAgentCallback) hooks.afterAgent = ({ ctx }) => inOrder(afterAgentCallback)(ctx);
  if (beforeModelCallback)
    hooks.beforeModel = ({ ctx, request }) => inOrder(beforeModelCallback)({ context: ctx, request });
  if (afterModelCallback)
    hooks.afterModel = ({ ctx, response }) => inOrder(afterModelCallback)({ context: ctx, response });
  if (beforeToolCallback)
    hooks.beforeTool = ({ ctx, ...input }) => inOrder(beforeToolCallback)({ ...input, context: ctx });
  if (afterToolCallback) {
    hooks.afterTool = ({ ctx, result, ...input }) =>
      inOrder(afterToolCallback)({ ...input, context: ctx, response: result });
  }
  return { ...rest, ...hooks };
}
