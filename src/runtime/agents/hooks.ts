import type { AskOptions } from "../../engine/index.ts";
import type { Content, JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";
import type { ModelChunk, ModelRequest } from "../models/index.ts";
import type { State, Tool, ToolContext } from "../tools/index.ts";

/** What every hook may look at. */
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
  /** Puts the call before a person; what the hook returns then is not an answer. */
  requestConfirmation(options?: AskOptions): void;
}

// A hook that only looks may end without a word; a function that returns nothing is of type void.
type Instead<T> = T | undefined | void | Promise<T | undefined | void>;

/**
 * Code around the loop. A value that is not undefined takes the place of what would have happened: the
 * agent's answer, the model's, the tool's. Hooks run once; a resumed run does not fire them again. But where an approver
 * changes a call's arguments, or its tool has changed since it was asked about, `beforeTool` judges what would run now:
 * an answer or a change of `args` then refuses it.
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
  /** `args` may be changed in place; what it leaves is what is parsed, shown and run. */
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

/** Asks the Runner's hook and then the agent's; the first value stands. */
export async function firstValue<Name extends HookName>(
  hooks: readonly (Hooks | undefined)[],
  name: Name,
  input: Parameters<NonNullable<Hooks[Name]>>[0],
): Promise<Value<Name> | undefined> {
  for (const set of hooks) {
    const hook = set?.[name] as ((input: unknown) => unknown) | undefined;
    // Most agents have none, and an empty wait costs every step some.
    const value = hook === undefined ? undefined : await hook(input);
    if (value !== undefined) return value as Value<Name>;
  }
  return undefined;
}
