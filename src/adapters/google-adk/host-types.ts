// The part of the ADK that is used here, by its shape: its packages need not be installed to build or to check this.

/** A function call in a message. */
export interface AdkCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: { readonly [name: string]: unknown };
}

/** A part of a message. */
export interface AdkPart {
  readonly text?: string;
  readonly functionCall?: AdkCall;
  readonly functionResponse?: {
    readonly id?: string;
    readonly name?: string;
    readonly response?: { readonly [name: string]: unknown };
  };
}

/** A `Content` of `@google/genai`. */
export interface AdkContent {
  readonly parts?: readonly AdkPart[];
}

/** An `Event` of a session. */
export interface AdkEvent {
  readonly id: string;
  readonly author?: string;
  readonly content?: AdkContent;
}

/** A `Session`. */
export interface AdkSession {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  readonly events: readonly AdkEvent[];
}

/** The `Context` that a tool gets. */
export interface AdkToolContext {
  readonly invocationContext: {
    readonly invocationId: string;
    readonly branch?: string;
    readonly session: AdkSession;
    /** Set, the model is not called again. */
    endInvocation: boolean;
    /** Events of a tool that runs; the runner stores them in the session. One for each answer of the model. */
    readonly eventQueue?: { push(event: AdkEvent): void };
  };
  readonly agentName: string;
  readonly functionCallId?: string;
  toolConfirmation?: { readonly hint: string; readonly confirmed: boolean };
  readonly abortSignal?: AbortSignal;
  readonly actions: { skipSummarization?: boolean };
  requestConfirmation(request: { readonly hint?: string }): void;
}

/** A `BaseTool`: a `FunctionTool`, or one of your own. */
export interface AdkTool {
  readonly name: string;
  readonly description: string;
  _getDeclaration(): AdkDeclaration | undefined;
  runAsync(request: { args: Record<string, unknown>; toolContext: AdkToolContext }): Promise<unknown>;
  checkRequireConfirmation(args: Record<string, unknown>, toolContext?: AdkToolContext): Promise<boolean>;
}

/** A `FunctionDeclaration` of `@google/genai`. */
export interface AdkDeclaration {
  /** A `Schema` of `@google/genai`. */
  readonly parameters?: object;
  readonly parametersJsonSchema?: unknown;
}
