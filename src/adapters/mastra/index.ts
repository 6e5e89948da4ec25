/**
 * The gate for Mastra. Decided here: how a tool is wrapped; how a run is suspended at an open question, and resumed. The rest
 * is the same for all adapters (`thread-gate.ts`).
 */

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
