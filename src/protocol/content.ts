import type { JsonObject, JsonValue } from "./json.ts";

/** A model's request to call a tool. `id` is absent only before the engine has stored the call. */
export interface FunctionCall {
  readonly id?: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** The answer to a {@link FunctionCall}, or to a confirmation request, under the same id. */
export interface FunctionResponse {
  readonly id?: string;
  readonly name: string;
  readonly response: JsonObject;
  /** adk-rs: the answer is not final yet; this is how it writes a pause. */
  readonly willContinue?: boolean;
  readonly scheduling?: string;
}

/**
 * One piece of a message. Unknown members (inline data, code, thought signatures, future ones) are passed through
 * unchanged, so the type is open.
 */
export interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: FunctionCall;
  readonly functionResponse?: FunctionResponse;
  readonly [kind: string]: unknown;
}

/** A message: its role (`user` or `model`) and its parts, in order. */
export interface Content {
  readonly role?: string;
  readonly parts: readonly Part[];
}

/** The decision on a call, or (with `confirmed: false`) the request for one. */
export interface ToolConfirmation {
  readonly hint?: string;
  readonly confirmed: boolean;
  readonly payload?: JsonValue;
}

/** The arguments of an `adk_request_confirmation` call: what would run, and what is asked. */
export interface ConfirmationRequest {
  readonly originalFunctionCall: FunctionCall;
  readonly toolConfirmation: ToolConfirmation;
}
