/**
 * The gate for the Claude Agent SDK. Decided here: how a hook and a permission callback ask about a tool use; how a run pauses
 * at an open question, and continues. The rest is the same for all adapters (`thread-gate.ts`).
 */

export type { ButtonResult, PressedButton, ThreadOptions } from "../thread-gate.ts";
export type { GivenRule, ToolRule } from "../tool-rule.ts";
export { type ClaudeGate, type ClaudeGateOptions, createGate, type Resumption } from "./claude-gate.ts";
export type {
  ArgsOf,
  ClaudeHooks,
  DeferredToolUse,
  HookInput,
  HookOutput,
  PermissionAnswer,
  RunMessage,
  SdkTool,
  UserMessage,
} from "./host-types.ts";
export type { ClaudeTurn } from "./turn.ts";
