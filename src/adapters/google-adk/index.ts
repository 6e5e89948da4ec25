/**
 * The gate for Google's ADK for TypeScript. Decided here: how its tools are wrapped; how a question looks as the
 * ADK's own confirmation, and which answers are decisions. The rest is the same for all adapters (`thread-gate.ts`).
 */

export type { ButtonResult } from "../thread-gate.ts";
export type { GivenRule, ToolRule } from "../tool-rule.ts";
export {
  type AdkGate,
  type AdkGateOptions,
  type ConfirmationMessage,
  type Conversation,
  createGate,
  type Resumption,
  type Rules,
} from "./adk-gate.ts";
export type {
  AdkCall,
  AdkContent,
  AdkDeclaration,
  AdkEvent,
  AdkPart,
  AdkSession,
  AdkTool,
  AdkToolContext,
} from "./host-types.ts";
