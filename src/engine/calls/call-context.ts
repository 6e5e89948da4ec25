import type { JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";

/** What a tool asks a person. */
export interface AskOptions {
  readonly hint?: string;
  /** An example of the answer's shape, or data to show. */
  readonly payload?: JsonValue;
  /** JSON Schema that the answer's payload must match. */
  readonly schema?: JsonObject;
}

/** What a tool's function gets besides its arguments. */
export interface CallContext {
  /** The same for every attempt at this call. Pass it to the system that the tool calls. */
  readonly idempotencyKey: string;
  /** 1 for the first time that the function runs. */
  readonly attempt: number;
  /** Aborts when the tool should stop: `suspended` while a person is asked, or the run was cancelled. */
  readonly signal: AbortSignal;
  readonly session: { readonly app: string; readonly user: string; readonly id: string };
  readonly callId: string;
  /** The run that the call belongs to; absent for a gated function, which has no run. */
  readonly invocation?: string;
  /** The decision that allowed this call to start, if there was one. */
  readonly toolConfirmation?: ToolConfirmation;
  /**
   * Runs `fn` at most once per call, however often the function runs, and stores its result. A crash inside it makes
   * the call's outcome unknown, unless the step is idempotent. Steps of one name are told apart by their order: those
   * that may come in another order next time each need a name of their own. Two of one name at the same time fail the
   * call. `fn` can neither ask nor start another step. The call ends when all its steps have ended.
   */
  readonly step: <T>(
    name: string,
    fn: (context: StepContext) => Promise<T> | T,
    options?: StepOptions,
  ) => Promise<T>;
  /**
   * Asks a person and resolves only on approval. Until somebody answers, the promise stays unsettled and the function
   * is abandoned; when the answer is there, the function runs again from the start.
   */
  readonly confirm: (
    name: string,
    options?: AskOptions,
  ) => Promise<{ readonly payload: JsonValue | undefined }>;
  /**
   * Asks a person and returns at once. What the function then returns is discarded; it runs again when the answer is
   * there.
   */
  readonly requestConfirmation: (options?: AskOptions) => void;
}

/** What a step of a tool gets. */
export interface StepContext {
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Options of `ctx.step`. */
export interface StepOptions {
  /** Safe to run again after a crash, with the same key. */
  readonly idempotent?: boolean;
}

/** Thrown inside a tool whose question was not approved. */
export class ConfirmationRejected extends Error {
  override readonly name: string = "ConfirmationRejected";
  readonly status: "denied" | "expired" | "cancelled";
  readonly reason: string | undefined;

  constructor(status: "denied" | "expired" | "cancelled", reason?: string) {
    super(
      reason === undefined ? `The confirmation was ${status}.` : `The confirmation was ${status}: ${reason}`,
    );
    this.status = status;
    this.reason = reason;
  }
}

/**
 * A tool throws this when it does not know whether it had an effect, for example if the connection was lost after the
 * request was sent. The call becomes `unknown` and a person settles it; it is never started again automatically.
 */
export class OutcomeUnknown extends Error {
  override readonly name: string = "OutcomeUnknown";
}

/**
 * A function throws this when its process is about to end and another process can continue the call. Nothing is
 * recorded: recovery treats the call like one whose process was lost. It runs again if it is repeatable; else it
 * becomes `unknown`.
 */
export class CallAbandoned extends Error {
  override readonly name: string = "CallAbandoned";
}
