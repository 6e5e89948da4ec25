// The parts of the Claude Agent SDK that are used here. Its package is large, so nothing of it is imported.

/** A tool, as the SDK's `tool` makes it. */
export interface SdkTool {
  readonly name: string;
  readonly description: string;
  /** A record of schemas. */
  readonly inputSchema: object;
  readonly handler: (args: never, extra: unknown) => Promise<unknown>;
}

/** The arguments of a tool, as its function gets them. */
export type ArgsOf<Tool> = Tool extends { readonly handler: (args: infer Args, extra: never) => unknown }
  ? Args
  : never;

/** What a hook is given. */
export interface HookInput {
  readonly hook_event_name: string;
}

/** What a hook is given before a tool is used. */
export interface ToolUseInput extends HookInput {
  readonly tool_name: string;
  readonly tool_input: unknown;
  readonly tool_use_id: string;
  readonly cwd?: string;
}

/** The answer of a hook; an empty one leaves the decision to Claude Code. */
export interface HookOutput {
  hookSpecificOutput?: {
    hookEventName: "PreToolUse";
    permissionDecision: "allow" | "deny" | "defer";
    permissionDecisionReason?: string;
    updatedInput?: Record<string, unknown>;
    additionalContext?: string;
  };
}

/** The SDK's `hooks`. */
export interface ClaudeHooks {
  PreToolUse: {
    hooks: ((
      input: HookInput,
      id: string | undefined,
      options: { signal: AbortSignal },
    ) => Promise<HookOutput>)[];
    timeout: number;
    onFailure: "block";
  }[];
}

/** The SDK's answer of `canUseTool`. */
export type PermissionAnswer =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string };

/** A tool use that a run has paused at. */
export interface DeferredToolUse {
  readonly id: string;
  readonly name: string;
}

/** A message of a run. */
export interface RunMessage {
  readonly type: string;
}

/** The last message of a run. */
export interface ResultMessage extends RunMessage {
  readonly stop_reason?: string | null;
  readonly deferred_tool_use?: DeferredToolUse;
}

/** A message to the model. */
export interface UserMessage {
  type: "user";
  message: { role: "user"; content: string };
  parent_tool_use_id: null;
}
