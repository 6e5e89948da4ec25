/**
 * The Runner: runs agents on an engine. What is decided is in the folders: `agents`, `tools`, `models`, `history`, `calls`,
 * `streaming`, `loop` and `messages`.
 */

export type { GateContext } from "../engine/index.ts";
export {
  type AdkCallbacks,
  Agent,
  type AgentOptions,
  type AnyAgent,
  type BeforeToolContext,
  type ConfirmationProvider,
  type ConfirmationRequest,
  type ForeignAgent,
  type ForeignCall,
  type ForeignContext,
  type ForeignMove,
  type ForeignProgress,
  type HookContext,
  type Hooks,
  type Instruction,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from "./agents/index.ts";
export {
  callIdsIn,
  hideSecrets,
  isNested,
  isolatedBranch,
  isVisible,
  redactCalls,
  type Session,
  type Sessions,
  secretsIn,
  type Turn,
  type UnknownCall,
} from "./history/index.ts";
export type { RunLimits } from "./loop/index.ts";
export { type HeaderSource, ReadMessage, type RefusedAnswer } from "./messages/index.ts";
export type {
  GenerateOptions,
  Model,
  ModelChunk,
  ModelRequest,
  ModelResolver,
  ToolDeclaration,
} from "./models/index.ts";
export { Runner, type StartedRun } from "./runner.ts";
export type { BeginInput, RunInput, RunnerOptions, SendOptions } from "./runner-options.ts";
export { activityOf, Pace, type RunEvent, type StreamEvent, type Waiting } from "./streaming/index.ts";
export {
  AgentTool,
  type AgentToolOptions,
  ASK_USER,
  type AskUserOptions,
  agentTool,
  answersSchema,
  askedQuestions,
  askUser,
  BaseTool,
  type BaseToolOptions,
  type ConfirmationPredicate,
  FunctionTool,
  type FunctionToolOptions,
  readAnswers,
  type State,
  type Tool,
  type ToolActions,
  type ToolContext,
  type ToolOptions,
  type Toolset,
  type TypedConfirmation,
  toAnswersPayload,
  tool,
  toolset,
  withConfirmation,
} from "./tools/index.ts";
