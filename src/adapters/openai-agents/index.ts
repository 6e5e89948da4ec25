export type { ButtonResult } from "../thread-gate.ts";
export type { GivenRule, ToolRule } from "../tool-rule.ts";
export {
  type AgentsGate,
  type AgentsGateOptions,
  type AnsweredItem,
  type Conversation,
  createGate,
  type Resumption,
} from "./agents-gate.ts";
