/**
 * What a model may call: tools, toolsets, and the context that they get. Decided here: how a function becomes a tool,
 * and its schema (zod 3 and 4, Standard Schema, JSON Schema); whether a tool asks for confirmation; what it declares
 * secret or repeatable; and what state a tool can read and write. A tool knows nothing about the loop that calls it.
 */

export { AgentTool, type AgentToolOptions, agentTool, isAgentTool } from "./agent-tool.ts";
export {
  ASK_USER,
  type AskUserOptions,
  answersSchema,
  askedQuestions,
  askUser,
  readAnswers,
  toAnswersPayload,
} from "./ask-user.ts";
export { BaseTool, type BaseToolOptions } from "./base-tool.ts";
export { FunctionTool, type FunctionToolOptions } from "./function-tool.ts";
export { State } from "./state.ts";
export { type ConfirmationPredicate, refuseReserved, type Tool, type ToolOptions, tool } from "./tool.ts";
export type { ToolActions, ToolContext, TypedConfirmation } from "./tool-context.ts";
export { type Toolset, toolset, withConfirmation } from "./toolset.ts";
