export type { ButtonResult } from "../thread-gate.ts";
export type { GivenRule, ToolRule } from "../tool-rule.ts";
export type { MastraRun, MastraTool } from "./host-types.ts";
export {
  type AnsweredCall,
  type Conversation,
  createGate,
  type MastraGate,
  type MastraGateOptions,
  type Resumption,
  type RunMemory,
} from "./mastra-gate.ts";
