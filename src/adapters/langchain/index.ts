/**
 * The gate for LangChain and LangGraph. Decided here: how a tool is wrapped; how an interrupt asks, and with what the graph
 * resumes. The rest is the same for all adapters (`thread-gate.ts`).
 */

export type { ButtonResult } from "../thread-gate.ts";
export type { GivenRule, ToolRule } from "../tool-rule.ts";
export {
  type Conversation,
  createGate,
  type LangChainGate,
  type LangChainGateOptions,
  type Resumable,
  type Resumption,
  type RulesOf,
} from "./langchain-gate.ts";
export type { Pause } from "./pause.ts";
