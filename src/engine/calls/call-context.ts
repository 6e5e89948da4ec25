import type { JsonObject, JsonValue, ToolConfirmation } from "../../protocol/index.ts";

/** What a tool asks a person. */
export interface AskOptions {
  readonly hint?: string;
  /** An example of the answer's shape, or data to show. */
  readonly payload?: JsonValue;
  /** JSON Schema that the answer's payload must fit. */
  readonly schema?: JsonObject;
}

/** What a tool's body is given besides its arguments. */
export interface CallContext {
  /** The same for every attempt at this call: hand it to whatever the tool talks to. */
  readonly idempotencyKey: string;
  /** 1 for the first time the body is entered. */
  readonly attempt: number;
  /** Aborts when the tool should stop: `suspended` while a person is asked, or the run was cancelled. */
  readonly signal: AbortSignal;
  readonly session: { readonly app: string; readonly user: string; readonly id: string };
  readonly callId: string;
  /** Of the run that the call belongs to; absent for a gated function, which belongs to none. */
  readonly invocation?: string;
  /** The decision that let this run start, where there was one. */
  readonly toolConfirmation?: ToolConfirmation;
  /**
   * Runs `fn` at most once per call, however often the body is entered, and remembers its result. A crash
   * inside it makes the call's outcome unknown, unless the step says that it may be repeated.
   */
  readonly step: <T>(
    name: string,
    fn: (context: StepContext) => Promise<T> | T,
    options?: StepOptions,
  ) => Promise<T>;
  /**
   * Asks a person and resolves only on approval. While nobody has answered, the promise stays unsettled and
   * the body is abandoned; it starts again from its top when the answer is there.
   */
  readonly confirm: (
    name: string,
    options?: AskOptions,
  ) => Promise<{ readonly payload: JsonValue | undefined }>;
  /** Asks a person and returns at once; what the body returns then is discarded, and it is entered again. */
  readonly requestConfirmation: (options?: AskOptions) => void;
}

export interface StepContext {
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

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
 * A tool throws this when it cannot tell whether it took effect: a request was sent and the line went dead.
 * The call becomes `unknown` and a person settles it; it is never started again by itself.
 */
export class OutcomeUnknown extends Error {
  override readonly name: string = "OutcomeUnknown";
}

/**
 * A body throws this when its process is about to end and another can go on with the call. Nothing is recorded: the
 * call is found as one whose process was lost, and is run again if it may be repeated; else it becomes `unknown`.
 */
export class CallAbandoned extends Error {
  override readonly name: string = "CallAbandoned";
}
