export { type Activity, activityOf } from "./activity.ts";
export { type AdkCallbacks, FunctionTool, type FunctionToolOptions, LlmAgent } from "./adk-names.ts";
export {
  Agent,
  type AgentOptions,
  type AnyAgent,
  type Instruction,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from "./agent.ts";
export { AgentTool, type AgentToolOptions, agentTool } from "./agent-tool.ts";
export { type RefusedAnswer } from "./answers.ts";
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
export type { DecisionResult } from "./decision-result.ts";
export type {
  ForeignAgent,
  ForeignCall,
  ForeignContext,
  ForeignMove,
  ForeignStanding,
} from "./foreign-agent.ts";
export { isNested, isVisible } from "./history.ts";
export type { BeforeToolContext, HookContext, Hooks } from "./hooks.ts";
export type { RunLimits } from "./limit-run.ts";
export type {
  GenerateOptions,
  Model,
  ModelChunk,
  ModelRequest,
  ModelResolver,
  ToolDeclaration,
} from "./model.ts";
export type { Policy, PolicyCall, PolicyVerdict } from "./policy.ts";
export type { ConfirmationProvider, ConfirmationRequest } from "./provider.ts";
export { redactCalls } from "./redact-calls.ts";
export type { HeaderSource } from "./request-headers.ts";
export { Runner, type StartedRun } from "./runner.ts";
export type { BeginInput, RunInput, RunnerOptions, SendOptions } from "./runner-options.ts";
export type { Session, Sessions } from "./sessions.ts";
export type { State } from "./state.ts";
export type { StreamEvent } from "./stream.ts";
export {
  type ConfirmationPredicate,
  type GateContext,
  type Tool,
  type ToolOptions,
  tool,
} from "./tool.ts";
export type { ToolActions, ToolContext, TypedConfirmation } from "./tool-context.ts";
export { type Toolset, toolset, withConfirmation } from "./toolset.ts";
export type { Turn, UnknownCall } from "./turn.ts";
export type { RunEvent } from "./watch-run.ts";
