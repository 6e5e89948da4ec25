/**
 * The gate for the OpenAI Agents SDK. Decided here: how a tool is wrapped; how an interruption of a run becomes a question, and
 * with what the run's state resumes. The rest is the same for all adapters (`thread-gate.ts`).
 */

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
