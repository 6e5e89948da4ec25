import { openLedger, withSurroundings } from "./create-engine.ts";
import type { Ledger } from "./engine/index.ts";
import { CountersignError } from "./protocol/index.ts";
import {
  type Model,
  Runner as RuntimeRunner,
  type RunnerOptions as RuntimeRunnerOptions,
} from "./runtime/index.ts";

export { type CreateEngineOptions, createEngine } from "./create-engine.ts";
export {
  type Acting,
  type Approvers,
  type Call,
  type CallContext,
  type Confirmation,
  ConfirmationRejected,
  type DecisionInput,
  type DecisionRefusal,
  type DecisionResult,
  Engine,
  type GatedFunction,
  type GateOptions,
  type GateOutcome,
  type Ledger,
  OutcomeUnknown,
  type Policy,
  type PolicyCall,
  type PolicySource,
  type PolicyVerdict,
  type Principal,
  type PrincipalInput,
  type Settlement,
  type ShownStatus,
  type Worker,
} from "./engine/index.ts";
export {
  CountersignError,
  type ErrorCode,
  type Event,
  type JsonObject,
  type JsonValue,
  REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
  type ToolConfirmation,
} from "./protocol/index.ts";
export {
  Agent,
  type AgentOptions,
  AgentTool,
  type AnyAgent,
  agentTool,
  askUser,
  BaseTool,
  type ConfirmationProvider,
  type ConfirmationRequest,
  FunctionTool,
  type FunctionToolOptions,
  type Hooks,
  LlmAgent,
  LoopAgent,
  type Model,
  ParallelAgent,
  type RunInput,
  type SendOptions,
  SequentialAgent,
  type Session,
  type StreamEvent,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type Toolset,
  type Turn,
  tool,
  toolset,
  withConfirmation,
} from "./runtime/index.ts";
export { createLedger, type LedgerOptions } from "./stores/index.ts";

/** A Runner's options, with the ledger also as a URL and models found by name. */
export interface RunnerOptions extends Omit<RuntimeRunnerOptions, "ledger" | "models"> {
  /** `memory:`, `sqlite:path`, `postgres://…`, or your own ledger. Default: `sqlite:countersign.db`. */
  readonly ledger?: string | Ledger;
  /** Finds a model by its name. Default: finds `gemini-*`. */
  readonly models?: RuntimeRunnerOptions["models"];
}

/** Runs an app's agents on a ledger. The ledger is opened when it is first needed. */
export class Runner extends RuntimeRunner {
  constructor(options: RunnerOptions) {
    const { ledger, models = defaultModel, ...rest } = withSurroundings(options);
    if (ledger !== undefined && rest.engine !== undefined) {
      throw new CountersignError(
        "invalid-option",
        "`ledger` and `engine` cannot be combined. An engine already has a ledger; remove `ledger`.",
      );
    }
    super({ ...rest, models, ledger: () => openLedger(ledger, rest.clock) });
  }
}

/** A Runner that forgets everything when the process ends. The ADK's name for it. */
export class InMemoryRunner extends Runner {
  constructor({ appName, ...options }: Omit<RunnerOptions, "ledger"> & { readonly appName?: string }) {
    super({ ...options, ...(appName === undefined ? {} : { app: appName }), ledger: "memory:" });
  }
}

/** Models by name: Gemini's own; for any other the error says what to do. */
async function defaultModel(name: string): Promise<Model> {
  if (!/^(models\/)?gemini-/.test(name)) {
    throw new CountersignError(
      "unknown-model",
      `There is no model "${name}". Use a model object, for example aiSdk(…) from "countersign/models/ai-sdk", or set \`models\` of the Runner.`,
    );
  }
  const { gemini } = await import("./models/gemini/index.ts");
  return gemini(name);
}
