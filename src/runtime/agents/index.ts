/**
 * Agents, their tree, and the author's hooks around them.
 * Decided here: which agents an app has and by which names; which tools an agent offers in a step;
 * to whom it may hand over; what its hooks see and may change;
 * and what is noted on a frame between two steps of an agent.
 * Agents are descriptions: `loop/` runs them.
 */

export { type AdkCallbacks, LlmAgent } from "./adk-callbacks.ts";
export {
  Agent,
  type AgentOptions,
  type AnyAgent,
  type Instruction,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from "./agent.ts";
export { declarationsOf, TRANSFER_TOOL, toolsOf } from "./agent-tools.ts";
export { type AgentTree, readAgentTree } from "./agent-tree.ts";
export {
  type ForeignAgent,
  type ForeignCall,
  type ForeignContext,
  type ForeignMove,
  type ForeignProgress,
  type ForeignQuestion,
  isForeign,
} from "./foreign-agent.ts";
export { notesFrom, notesOf, requestersOf, tellParent } from "./frame-cursor.ts";
export { hookContextFor } from "./hook-context.ts";
export { type BeforeToolContext, firstValue, HOOK_NAMES, type HookContext, type Hooks } from "./hooks.ts";
export { instructionFor } from "./instruction.ts";
export type { ConfirmationProvider, ConfirmationRequest } from "./provider.ts";
