// The part of Mastra that is used here, by its shape: its packages need not be installed to build or to check this.

/** A tool as `createTool` makes it. */
export interface MastraTool {
  readonly id: string;
  readonly description: string;
}

/** What of a tool is read or replaced. */
export interface AnyTool extends MastraTool {
  readonly inputSchema?: unknown;
  readonly requireApproval?: boolean | Approval;
  readonly execute?: Execute;
  readonly toModelOutput?: (output: unknown) => unknown;
  readonly onInputAvailable?: (available: AvailableInput) => unknown;
}

/** What Mastra announces of a call before it parses the arguments and runs the tool. */
export interface AvailableInput {
  readonly toolCallId: string;
  readonly input?: unknown;
}

export type Execute = (input: unknown, context: MastraContext) => Promise<unknown>;
type Approval = (
  input: unknown,
  context: { readonly requestContext?: unknown; readonly workspace?: unknown },
) => boolean | Promise<boolean>;

/** The context that a tool gets. */
export interface MastraContext {
  readonly runId?: string;
  readonly requestContext?: unknown;
  readonly workspace?: unknown;
  readonly abortSignal?: AbortSignal;
  /** Only if an agent calls the tool. */
  readonly agent?: {
    readonly agentId: string;
    readonly toolCallId: string;
    readonly threadId?: string;
    readonly resourceId?: string;
    readonly resumeData?: unknown;
    suspend(payload: unknown): Promise<unknown>;
  };
}

/** A suspended run, as `agent.listSuspendedRuns` returns it. */
export interface MastraRun {
  readonly runId: string;
  readonly threadId?: string;
  readonly resourceId?: string;
  readonly toolCalls: readonly { readonly toolCallId?: string }[];
}
