import type { JsonValue, ToolConfirmation } from "../../protocol/index.ts";

/** The request to a provider: one call, and the tool's hint and payload if the tool itself asked. */
export interface ConfirmationRequest {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments as JSON text. */
  readonly input: string;
  /** Empty for a declared gate. */
  readonly hint: string;
  /** Absent for a declared gate. */
  readonly payload?: JsonValue;
}

/**
 * Answers in this process while the call waits. `undefined` leaves the question to people; a provider that
 * throws fails the call. Its signal aborts when somebody else decides first.
 */
export type ConfirmationProvider = (
  request: ConfirmationRequest,
  options: { readonly signal: AbortSignal },
) => Promise<boolean | ToolConfirmation | undefined> | boolean | ToolConfirmation | undefined;
