import type { AskOptions } from "../../engine/index.ts";
import type { Content, JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import type { ModelChunk, ModelRequest } from "../models/index.ts";
import type { State, Tool, ToolContext } from "../tools/index.ts";

/** The context of every hook. */
export interface HookContext {
  readonly agentName: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly invocationId: string;
  readonly state: State;
}

/** What a hook before a tool may also do. */
export interface BeforeToolContext extends HookContext {
  readonly functionCallId: string;
  /** Never set: hooks run once, before anybody is asked. Callbacks written for the ADK look for it. */
  readonly toolConfirmation?: ToolConfirmation;
  /** Asks a person about the call; what the hook returns is then not an answer. */
  requestConfirmation(options?: AskOptions): void;
}

// A hook may return nothing; the type of such a function is void.
type Instead<T> = T | undefined | void | Promise<T | undefined | void>;

/**
 * The author's code around the loop. A returned value that is not undefined replaces the answer of the agent, the model
 * or the tool. Hooks run once; a resumed run does not call them again. One exception: if an approver changes a call's
 * arguments, or its tool has changed since the question, `beforeTool` judges what would run now; if it returns an
 * answer or changes `args`, the call is refused.
 */
export interface Hooks {
  readonly beforeAgent?: (input: { readonly ctx: HookContext }) => Instead<Content>;
  readonly afterAgent?: (input: { readonly ctx: HookContext }) => Instead<Content>;
  readonly beforeModel?: (input: {
    readonly request: ModelRequest;
    readonly ctx: HookContext;
  }) => Instead<ModelChunk>;
  readonly afterModel?: (input: {
    readonly response: ModelChunk;
    readonly ctx: HookContext;
  }) => Instead<ModelChunk>;
  /** `args` may be changed in place; the changed arguments are parsed, shown and run. */
  readonly beforeTool?: (input: {
    readonly tool: Tool;
    readonly args: { [key: string]: JsonValue };
    readonly ctx: BeforeToolContext;
  }) => Instead<JsonValue>;
  readonly afterTool?: (input: {
    readonly tool: Tool;
    readonly args: JsonObject;
    readonly result: JsonValue;
    readonly ctx: ToolContext;
  }) => Instead<JsonValue>;
  readonly onToolError?: (input: {
    readonly tool: Tool;
    readonly args: JsonObject;
    readonly error: unknown;
    readonly ctx: ToolContext;
  }) => Instead<JsonValue>;
}

export const HOOK_NAMES: readonly (keyof Hooks)[] = [
  "beforeAgent",
  "afterAgent",
  "beforeModel",
  "afterModel",
  "beforeTool",
  "afterTool",
  "onToolError",
];

type HookName = keyof Hooks;

type Value<Name extends HookName> = Exclude<Awaited<ReturnType<NonNullable<Hooks[Name]>>>, undefined | void>;

/** Calls the Runner's hook and then the agent's; the first returned value wins. */
export function firstValue<Name extends HookName>(
  hooks: readonly (Hooks | undefined)[],
  name: Name,
  input: Parameters<NonNullable<Hooks[Name]>>[0],
): Promise<Value<Name> | undefined> | undefined {
  // Most agents have no hooks, and a promise costs time in every step.
  return hooks.some((set) => set?.[name] !== undefined) ? callHooks(hooks, name, input) : undefined;
}

async function callHooks<Name extends HookName>(
  hooks: readonly (Hooks | undefined)[],
  name: Name,
  input: Parameters<NonNullable<Hooks[Name]>>[0],
): Promise<Value<Name> | undefined> {
  for (const set of hooks) {
    const hook = set?.[name] as ((input: unknown) => unknown) | undefined;
    const value = await hook?.(input);
    if (value !== undefined) return value as Value<Name>;
  }
  return undefined;
}
