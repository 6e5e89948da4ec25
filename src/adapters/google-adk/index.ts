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
