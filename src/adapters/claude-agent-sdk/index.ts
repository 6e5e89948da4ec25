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
